import { type ApiDocument, resolve, type Schema } from "../../reference/api-document.ts";
import { type Html, html } from "../kit/html.ts";

/** Of members within members; what is deeper is named only. */
const deepest = 5;

/** A schema's members with their types and descriptions; those of objects below them are folded. */
export function schemaMembers(document: ApiDocument, schema: Schema, depth = 0): Html | null {
  const { properties, required } = membersOf(document, schema);
  const names = Object.keys(properties);
  if (names.length === 0 || depth === deepest) return null;
  const rows = Object.entries(properties).map(([name, member]) =>
    memberRow(document, { name, member, isRequired: required.has(name) }, depth),
  );
  return html`<dl class="members">${rows}</dl>`;
}

type Member = { readonly name: string; readonly member: Schema; readonly isRequired: boolean };

function memberRow(
  document: ApiDocument,
  { name, member, isRequired }: Member,
  depth: number,
): Html {
  const below = schemaMembers(document, innermost(document, member), depth + 1);
  return html`<div><dt><code>${name}</code> ${typeMark(document, member)}${!isRequired && html` <span class="quiet">may be absent</span>`}</dt>
<dd>${prose(descriptionOf(document, member))}${valueNotes(document, member)}${below !== null && html`<details><summary>Members of <code>${name}</code></summary>${below}</details>`}</dd></div>`;
}

type Members = { properties: Readonly<Record<string, Schema>>; required: ReadonlySet<string> };

/** Of an object, of what it is made of, and of each form that it may have: required is what every form has. */
function membersOf(document: ApiDocument, schema: Schema): Members {
  const whole = resolve(document, schema);
  const parts = (whole.allOf ?? []).map((one) => membersOf(document, one));
  const forms = formsOf(document, whole).map((one) => membersOf(document, one));
  const all = [...parts, ...forms];
  const properties = Object.assign({}, ...all.map((one) => one.properties), whole.properties);
  const inEveryForm = [...(forms[0]?.required ?? [])].filter((name) =>
    forms.every(({ required }) => required.has(name)),
  );
  const inParts = parts.flatMap(({ required }) => [...required]);
  const required = new Set([...inEveryForm, ...inParts, ...(whole.required ?? [])]);
  return { properties, required };
}

/** The forms that a value may have, `null` left out. */
function formsOf(document: ApiDocument, { anyOf = [], oneOf = [] }: Schema): Schema[] {
  return [...anyOf, ...oneOf].filter((one) => resolve(document, one).type !== "null");
}

/** Of a list what it holds, of a value by name what stands there. */
function innermost(document: ApiDocument, schema: Schema): Schema {
  const whole = resolve(document, schema);
  const [form, ...others] = formsOf(document, whole);
  if (form !== undefined && others.length === 0) return innermost(document, form);
  if (whole.items !== undefined) return innermost(document, whole.items);
  const { additionalProperties } = whole;
  return typeof additionalProperties === "object"
    ? innermost(document, additionalProperties)
    : whole;
}

/** A schema's type in words. */
export const typeMark = (document: ApiDocument, schema: Schema): Html =>
  html`<span class="type">${typeWords(document, schema)}</span>`;

function typeWords(document: ApiDocument, schema: Schema, depth = 0): string {
  const whole = resolve(document, schema);
  const forms = [...(whole.anyOf ?? []), ...(whole.oneOf ?? [])];
  if (forms.length > 0 && depth < deepest)
    return [...new Set(forms.map((one) => typeWords(document, one, depth + 1)))].join(" or ");
  if (whole.items !== undefined) return `list of ${typeWords(document, whole.items, depth + 1)}`;
  if (typeof whole.additionalProperties === "object" && whole.properties === undefined)
    return `object of ${typeWords(document, whole.additionalProperties, depth + 1)}`;
  if (whole.type === undefined) return whole.allOf === undefined ? "any value" : "object";
  return [whole.type].flat().join(" or ");
}

function descriptionOf(document: ApiDocument, schema: Schema): string | undefined {
  if (schema.description !== undefined) return schema.description;
  const whole = resolve(document, schema);
  const forms = formsOf(document, whole);
  return whole.description ?? forms.map((one) => descriptionOf(document, one)).find(Boolean);
}

/** Of a value that is one of some, of a default, and of bounds. */
export function valueNotes(document: ApiDocument, schema: Schema): Html | null {
  const whole = resolve(document, schema);
  const one = innermost(document, whole);
  const allowed = one.enum ?? (one.const === undefined ? [] : [one.const]);
  const notes = [
    allowed.length > 0 &&
      html`One of ${allowed.map((value, at) => html`${at > 0 && ", "}<code>${String(value)}</code>`)}.`,
    whole.default !== undefined && html`Default <code>${JSON.stringify(whole.default)}</code>.`,
    boundsOf(whole),
  ].filter((note) => note !== false && note !== null);
  if (notes.length === 0) return null;
  return html`<p class="quiet">${notes.map((note, at) => html`${at > 0 && " "}${note}`)}</p>`;
}

function boundsOf({ minimum, maximum, maxItems }: Schema): Html | null {
  if (maxItems !== undefined) return html`At most ${maxItems}.`;
  if (minimum !== undefined && maximum !== undefined) return html`${minimum} to ${maximum}.`;
  if (maximum !== undefined) return html`At most ${maximum}.`;
  return minimum === undefined || minimum === 0 ? null : html`At least ${minimum}.`;
}

/** A text of the document, in which what is code stands between backticks. */
export function prose(text: string | undefined): Html | null {
  if (text === undefined || text === "") return null;
  return html`<p>${inline(text)}</p>`;
}

/** The same within a sentence. */
export const inline = (text: string): Html =>
  html`${text.split("`").map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part))}`;
