type Value = string | string[] | Map | undefined;
type Map = { [name: string]: Value };

/**
 * The query of a request. `name[key]=value` is a field of the object `name` whatever the key is: a number, a bracket
 * or a space is part of it. A name that is given twice is an array. Never throws: what cannot be decoded stays as it is.
 */
export function parseQuery(text: string | null | undefined): Map {
  // Without a prototype, so that no key means anything else.
  const query: Map = Object.create(null);
  for (const [name, value] of new URLSearchParams(text ?? "")) {
    const [, object, key] = /^([^[\]]+)\[(.*)\]$/s.exec(name) ?? [];
    if (object === undefined || key === undefined) add(query, name, value);
    // `name[a][b]` is an object in an object, which no schema accepts.
    else if (key.includes("][")) objectIn(query, object)[key.split("][", 1)[0] ?? ""] = [];
    else add(objectIn(query, object), key, value);
  }
  return query;
}

/** One that is a plain value as well is the plain value and an object: an array, which no schema accepts. */
function objectIn(query: Map, name: string): Map {
  const known = query[name];
  if (known !== undefined && typeof known === "object" && !Array.isArray(known)) return known;
  const made: Map = Object.create(null);
  query[name] = known === undefined ? made : [];
  return made;
}

function add(fields: Map, name: string, value: string): void {
  const known = fields[name];
  if (known === undefined) fields[name] = value;
  else if (Array.isArray(known)) known.push(value);
  else fields[name] = typeof known === "string" ? [known, value] : [];
}
