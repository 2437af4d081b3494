import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Marked } from "marked";
import { Html, html } from "../kit/html.ts";
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
  ...["first-call", "keys-and-limits", "paging", "errors", "orders", "feed", "webhooks", "mcp"],
] as const;

/** The guides, the recipes and the changelog, all written in Markdown, with the address of this installation. */
export function readGuides(baseUrl: string): Guide[] {
  const readGuide = (file: string, name: string) => guideOf(file, name, baseUrl);
  const recipes = readdirSync(join(docs, "recipes"))
    .filter((file) => file !== "README.md")
    .sort();
  return [
    ...guideNames.map((name) => readGuide(`guides/${name}.md`, name)),
    readGuide("recipes/README.md", "recipes"),
    ...recipes.map((file) => readGuide(`recipes/${file}`, `recipes-${file.replace(/\.md$/, "")}`)),
    readGuide("../CHANGELOG.md", "changelog"),
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
  renderer: {
    code({ text, lang = "" }) {
      return html`<pre tabindex="0"><code data-language="${lang}">${text}</code></pre>`.text;
    },
    link({ href, tokens }) {
      const address = addressOf(href);
      const text = new Html(this.parser.parseInline(tokens));
      return (address === null ? text : html`<a href="${address}">${text}</a>`).text;
    },
    // Everything here is text of ours: what looks like HTML is an example.
    html: ({ text }) => html`${text}`.text,
  },
});

/** Where a link of a text leads on the site; null: to a file that is no page of it. */
function addressOf(href: string): string | null {
  if (/^(?:https?:|\/|#)/.test(href)) return href;
  const [, name] = /^(?:\.\.\/(?:guides|recipes)\/|\.\/)?([\w-]+)\.md$/.exec(href) ?? [];
  if (name === undefined) return null;
  if (name === "README") return "/docs/guides/recipes";
  const isGuide = (guideNames as readonly string[]).includes(name);
  return `/docs/guides/${isGuide ? name : `recipes-${name}`}`;
}
