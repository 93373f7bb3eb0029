// What was dropped, with the files of folders: a browser gives a folder as a file that
// cannot be read.

const most = 20000; // files

// entriesOf are the entries of what is dropped. They are there while the event is.
export function entriesOf(transfer) {
  return [...transfer.items].filter((item) => item.kind === "file").map((item) => item.webkitGetAsEntry?.());
}

// listed are files, with those of a folder in its place, in the order of their names and
// called by their paths. What is hidden in a folder stays so.
export async function listed(files, entries = []) {
  const found = [];
  for (const [i, file] of files.entries()) {
    if (entries[i]?.isDirectory) await walk(entries[i], found);
    else found.push(file);
  }
  return found;
}

async function walk(folder, found) {
  for (const entry of (await entriesIn(folder)).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith(".")) continue;
    if (found.length === most) throw new Error(`a folder of more than ${most} files is for the command: receipt verify FOLDER`);
    if (entry.isDirectory) await walk(entry, found);
    else found.push(new File([await new Promise((resolve, reject) => entry.file(resolve, reject))], entry.fullPath.slice(1)));
  }
}

// entriesIn reads until nothing more comes: it comes by the hundred.
async function entriesIn(folder) {
  const reader = folder.createReader(), all = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return all;
    all.push(...some);
  }
}
