/** JSON texts of objects that are sent more than once. */
const texts = new WeakMap<object, string>();

/** Makes the JSON text of an object once, for all bodies that it stands in; from now on it may not change. */
export function writeOnce(value: object): string {
  const text = texts.get(value) ?? JSON.stringify(Object.freeze(value));
  texts.set(value, text);
  return text;
}

/** `JSON.stringify` of a body, in whose lists rows with a text stand as it is. */
export function jsonText(body: object): string {
  const fields = Object.entries(body).flatMap(([name, value]) =>
    value === undefined ? [] : [`${JSON.stringify(name)}:${textOf(value)}`],
  );
  return `{${fields.join()}}`;
}

function textOf(value: unknown): string {
  if (!Array.isArray(value) || !value.some((row) => texts.has(row))) return JSON.stringify(value);
  return `[${value.map((row) => texts.get(row) ?? JSON.stringify(row) ?? "null").join()}]`;
}
