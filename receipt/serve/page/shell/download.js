// Files that the page makes, for the person to keep. Nothing leaves the machine.

export function download(name, blob) {
  const url = URL.createObjectURL(blob), link = document.createElement("a");
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // the browser reads it in its own time
}

// button makes a button.
export function button(name, act, attributes = {}) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = name;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.addEventListener("click", () => act(made));
  return made;
}
