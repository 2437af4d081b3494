import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Marked } from "marked";
import { Html } from "../kit/html.ts";
import type { GuideEntry } from "./layout.ts";

/** A text of ours as a page. `text`: without its marks, for the search. */
export type Guide = GuideEntry & {
  readonly name: string;
  readonly body: Html;
  readonly text: string;
};

const docs = join(import.meta.dirname, "../../../docs");

/** In the order in which they are read. */
const guideNames = [
  ...["first-call", "keys-and-limits", "paging", "errors", "orders", "feed", "webhooks"],
] as const;

/** The guides, then the recipes, all written in Markdown in `docs/`, with the address of this installation. */
export function readGuides(baseUrl: string): Guide[] {
  const readGuide = (file: string, name: string) => guideOf(file, name, baseUrl);
  const recipes = readdirSync(join(docs, "recipes"))
    .filter((file) => file !== "README.md")
    .sort();
  return [
    ...guideNames.map((name) => readGuide(`guides/${name}.md`, name)),
    readGuide("recipes/README.md", "recipes"),
    ...recipes.map((file) => readGuide(`recipes/${file}`, `recipes-${file.replace(/\.md$/, "")}`)),
  ];
}

/** Stands for the API's address in texts. */
const exampleUrl = "https://api.example.com";

function guideOf(file: string, name: string, baseUrl: string): Guide {
  const text = readFileSync(join(docs, file), "utf8").replaceAll(exampleUrl, baseUrl);
  const [, title = name] = /^# (.+)$/m.exec(text) ?? [];
  const body = new Html(markdown.parse(text, { async: false }));
  const isBelow = name.startsWith("recipes-");
  return { name, path: `/docs/guides/${name}`, title, isBelow, body, text };
}

const markdown = new Marked({
  gfm: true,
  walkTokens(token) {
    if (token.type === "link") token.href = addressOf(token.href);
  },
  renderer: {
    code({ text, lang = "" }) {
      return `<pre tabindex="0"><code data-language="${escapeAttribute(lang)}">${escapeText(text)}</code></pre>\n`;
    },
    // Everything here is text of ours: what looks like HTML is an example.
    html: ({ text }) => escapeText(text),
  },
});

/** Files of the repository that are pages of the site are linked as such. */
function addressOf(href: string): string {
  const [, recipe] = /^(?:\.\.\/recipes\/|\.\/)?([\w-]+)\.md$/.exec(href) ?? [];
  if (recipe === "README") return "/docs/guides/recipes";
  if (recipe !== undefined) {
    const isGuide = (guideNames as readonly string[]).includes(recipe);
    return `/docs/guides/${isGuide ? recipe : `recipes-${recipe}`}`;
  }
  return /sdk\/README\.md/.test(href) ? "/docs/guides/first-call" : href;
}

const escapeText = (text: string) =>
  text.replaceAll(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
const escapeAttribute = (text: string) => escapeText(text).replaceAll('"', "&quot;");
