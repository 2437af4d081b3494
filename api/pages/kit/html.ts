/** Safe HTML: only `html` and `dataScript` create it, so everything else in a page is escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | null | undefined | false | readonly Part[];

/** A template with values: text is escaped, lists are joined; null, undefined and false are left out. */
export function html(template: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const literals = literalsOf(template);
  let text = literals[0] ?? "";
  // Appended texts are copied once, when the page is encoded; joined ones in each template around them.
  for (let index = 0; index < parts.length; index += 1) {
    text += render(parts[index]);
    text += literals[index + 1];
  }
  return new Html(text);
}

const known = new WeakMap<TemplateStringsArray, readonly string[]>();

/** The template's own text, which is not escaped, in Latin-1. */
function literalsOf(template: TemplateStringsArray): readonly string[] {
  const before = known.get(template);
  if (before !== undefined) return before;
  const made = template.map((one) => one.replaceAll(beyondLatin1, refer));
  known.set(template, made);
  return made;
}

function render(part: Part): string {
  if (typeof part === "string") return escapeText(part);
  if (part === null || part === undefined || part === false) return "";
  if (part instanceof Html) return part.text;
  if (typeof part === "number") return String(part);
  let text = "";
  for (const one of part) text += render(one);
  return text;
}

const escaped = /[&<>"'`]|[^\0-\xff]/;
const allEscaped = /[&<>"'`]|[^\0-\xff]/gu;

/**
 * Other characters are references, too: one of them would make each character of a page two bytes, and encoding it twice
 * as slow.
 */
const beyondLatin1 = /[^\0-\xff]/gu;

const refer = (character: string): string => `&#${character.codePointAt(0)};`;

/** Data for programs that read a page: an element that no browser runs, whose text is not read as HTML. */
export const dataScript = (type: "application/ld+json", data: object): Html =>
  new Html(
    `<script type="${type}">${JSON.stringify(data).replaceAll(/[<>&]|[^\0-\x7f]/g, unicodeEscape)}</script>`,
  );

const unicodeEscape = (unit: string): string =>
  `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Most texts hold nothing to escape. */
const escapeText = (text: string): string =>
  escaped.test(text) ? text.replaceAll(allEscaped, refer) : text;
