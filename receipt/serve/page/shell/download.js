// This module lets the user save files that the page creates. No data is sent anywhere.

export function download(name, blob) {
  const url = URL.createObjectURL(blob), link = document.createElement("a");
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // the browser may read the file later
}

// button creates a button.
export function button(name, act, attributes = {}) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = name;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.addEventListener("click", () => act(made));
  return made;
}
