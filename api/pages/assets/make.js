/** An element with properties and contents; others' texts are texts. */
export function make(name, properties = {}, ...contents) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...contents);
  return element;
}
