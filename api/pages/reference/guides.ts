import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { Marked, type Tokens } from "marked";
import { Html, html } from "../kit/html.ts";
import type { GuideEntry } from "./layout.ts";

/** A text of ours as a page. `text`: without its marks, for the search. */
export type Guide = GuideEntry & {
  readonly name: string;
  readonly body: Html;
  readonly text: string;
};

const docs = join(import.meta.dirname, "../../../docs");

/** In the order in which they are read, by the heading under which the contents have them. */
const filesByGroup = {
  Guides: [
    ...[
      "first-call",
      "keys-and-limits",
      "paging",
      "errors",
      "orders",
      "feed",
      "webhooks",
      "mcp",
    ].map((name) => `guides/${name}.md`),
    ...["recipes/README.md", "../CHANGELOG.md"],
  ],
  "Run it": [
    "deploying.md",
    "configuration.md",
    "operating.md",
    "monitoring/README.md",
    "scaling.md",
  ],
  "Ask it in SQL": ["duckdb.md", "glossary.md"],
  "How it is built": [
    ...[
      "a-sale.md",
      "an-order.md",
      "a-rebuild.md",
      "decisions.md",
      "threat-model.md",
      "benchmarks.md",
    ],
    ...["adding-a-chain.md", "adding-an-exchange.md", "adding-a-partner.md"],
    ...["adding-a-projection.md", "adding-an-endpoint.md"],
  ],
} as const;

/** Texts that another one leads to. */
const foldersBelow = ["recipes", "decisions"] as const;

/** What is written in Markdown, with the address of this installation. */
export function readGuides(baseUrl: string): Guide[] {
  const contents = Object.entries(filesByGroup).flatMap(([group, files]) =>
    files.map((file) => ({ file, group })),
  );
  const below = foldersBelow.flatMap((folder) =>
    readdirSync(join(docs, folder))
      .filter((file) => file.endsWith(".md") && file !== "README.md")
      .sort()
      .map((file) => ({ file: `${folder}/${file}`, group: null })),
  );
  const entries = [...contents, ...below];
  const names = new Map(entries.map(({ file }) => [file, nameOf(file)]));
  return entries.map(({ file, group }) => guideOf(file, { group, names, baseUrl }));
}

/** In addresses: of what stands in a folder of its own, the folder's name too. */
function nameOf(file: string): string {
  if (file === "../CHANGELOG.md") return "changelog";
  return file
    .replace(/^guides\//, "")
    .replace(/(\/README)?\.md$/, "")
    .replace("/", "-");
}

/** Stands for the API's address in texts. */
const exampleUrl = "https://api.example.com";

type Reading = {
  readonly group: string | null;
  /** Of every text, by its file. */
  readonly names: ReadonlyMap<string, string>;
  readonly baseUrl: string;
};

function guideOf(file: string, { group, names, baseUrl }: Reading): Guide {
  const text = readFileSync(join(docs, file), "utf8").replaceAll(exampleUrl, baseUrl);
  const name = nameOf(file);
  const [, title = name] = /^# (.+)$/m.exec(text) ?? [];
  const body = new Html(markdownOf(file, names).parse(text, { async: false }));
  return { name, path: pathOf(name), title, group, body, text };
}

const pathOf = (name: string) => `/docs/guides/${name}`;

const markdownOf = (file: string, names: ReadonlyMap<string, string>) =>
  new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text }) {
        const content = new Html(this.parser.parseInline(tokens));
        return `<h${depth} id="${anchorOf(text)}">${content.text}</h${depth}>`;
      },
      code({ text, lang = "" }) {
        return html`<pre tabindex="0"><code data-language="${lang}">${text}</code></pre>`.text;
      },
      link({ href, tokens }) {
        const address = addressOf(href, file, names);
        const text = new Html(this.parser.parseInline(tokens));
        return (address === null ? text : html`<a href="${address}">${text}</a>`).text;
      },
      // On a phone a row is a paragraph, in which each cell after the first says what it is.
      table({ header, rows }) {
        const text = (cell: Tokens.TableCell) => new Html(this.parser.parseInline(cell.tokens));
        const row = (cells: Tokens.TableCell[]) =>
          html`<tr>${cells.map((cell, index) => html`<td${index > 0 && html` data-column="${header[index]?.text.replaceAll("`", "")}"`}>${text(cell)}</td>`)}</tr>`;
        return html`<table class="prose"><thead><tr>${header.map((cell) => html`<th scope="col">${text(cell)}</th>`)}</tr></thead><tbody>${rows.map(row)}</tbody></table>`
          .text;
      },
      // Everything here is text of ours: what looks like HTML is an example.
      html: ({ text }) => html`${text}`.text,
    },
  });

/** As GitHub names a heading in a link. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

/** Where a link of a text leads on the site; null: to a file that is no page of it. */
function addressOf(href: string, file: string, names: ReadonlyMap<string, string>): string | null {
  if (/^(?:https?:|\/|#)/.test(href)) return href;
  const [path = "", anchor] = href.split("#");
  const name = names.get(posix.join(posix.dirname(file), path));
  if (name === undefined) return null;
  return anchor === undefined ? pathOf(name) : `${pathOf(name)}#${anchor}`;
}
