import { someFields } from "../http/page.ts";

type Row = { readonly required?: readonly string[]; readonly properties?: object };
type Rows = Record<string, Row & { readonly allOf?: readonly { readonly $ref: string }[] }>;

const rowsOf = (document: object): Rows =>
  (document as { components?: { schemas?: Rows } }).components?.schemas ?? {};

/** Names of the rows of which there is one schema with what is required, and one without it. */
const rowNames = (rows: Rows) => Object.keys(rows).filter((name) => `${name}${someFields}` in rows);

const reference = (name: string) => `#/components/schemas/${name}`;

/**
 * The document with the properties of such rows once: a whole row has all fields of the other. One of its own it keeps, without
 * which @hey-api/openapi-ts overlooks what is required. Changes and returns the document.
 */
export function withSharedRows<Document extends object>(document: Document): Document {
  const rows = rowsOf(document);
  for (const name of rowNames(rows)) {
    const { properties = {}, ...whole } = rows[name] ?? {};
    const own = Object.fromEntries(Object.entries(properties).slice(0, 1));
    rows[name] = {
      ...whole,
      allOf: [{ $ref: reference(`${name}${someFields}`) }],
      properties: own,
    };
  }
  return document;
}

/** A copy of a document that tells whole rows alone, for who knows which fields a list was asked for. */
export function withWholeRows<Document extends object>(document: Document): Document {
  const copy: Document = JSON.parse(JSON.stringify(document), (_, value) => {
    const [whole, some] = value?.anyOf ?? [];
    return whole !== undefined && some?.$ref === `${whole.$ref}${someFields}` ? whole : value;
  });
  const rows = rowsOf(copy);
  for (const name of rowNames(rows)) {
    const { allOf: _, ...whole } = rows[name] ?? {};
    const { properties = {} } = rows[`${name}${someFields}`] ?? {};
    rows[name] = { ...whole, properties };
    delete rows[`${name}${someFields}`];
  }
  return copy;
}
