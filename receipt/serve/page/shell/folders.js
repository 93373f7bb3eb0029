// This module lists dropped files, including the files in dropped directories, because a browser
// represents a directory as a file that cannot be read.

const most = 20000; // files

// entriesOf returns the file system entries of a drop event. They are available only during the
// event.
export function entriesOf(transfer) {
  return [...transfer.items].filter((item) => item.kind === "file").map((item) => item.webkitGetAsEntry?.());
}

// listed returns the files, with each directory replaced by the files in it. The files in a
// directory are sorted by name and named by their path, and hidden files are skipped.
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

// entriesIn returns all entries of a directory. A browser returns them in batches of about a
// hundred.
async function entriesIn(folder) {
  const reader = folder.createReader(), all = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return all;
    all.push(...some);
  }
}
