import { type ApiOperation, codesOf, operationsOf, titleOf } from "../../reference/api-document.ts";
import { type Html, html } from "../kit/html.ts";
import { errorGroups } from "./error-explanations.ts";
import type { Guide } from "./guides.ts";
import { operationPath, operationsByTag, type ReferenceApi, referenceLayout } from "./layout.ts";
import { operationAside, operationBody } from "./operation-page.ts";
import { inline } from "./schema-members.ts";

/** Every page of one reference, by its path below that of the reference; made when they are first asked for. */
export function openReferencePages(api: ReferenceApi, guides: readonly Guide[]) {
  const operations = new Map(operationsOf(api.document).map((one) => [one.id, one]));
  const guidesByName = new Map(guides.map((one) => [one.name, one]));

  return {
    overview: (): Html =>
      referenceLayout(api, {
        title: api.document.info.title,
        path: api.path,
        guides,
        body: html`<h1>${api.document.info.title}</h1>
<p class="lead">${inline(api.document.info.description ?? "")}</p>
${operationsByTag(api.document).map(([tag, all]) => operationList(api, tag, all))}`,
      }),

    search: (text: string): Html =>
      referenceLayout(api, {
        title: `Search for ${text}`,
        path: `${api.path}?q`,
        search: text,
        guides,
        body: searchBody(api, guides, text),
      }),

    operation(id: string): Html | null {
      const operation = operations.get(id);
      if (operation === undefined) return null;
      return referenceLayout(api, {
        title: titleOf(operation),
        path: operationPath(api, operation),
        guides,
        body: operationBody(api, operation),
        aside: operationAside(api, operation),
      });
    },

    guide(name: string): Html | null {
      const guide = guidesByName.get(name);
      if (guide === undefined) return null;
      const { title, path, body } = guide;
      return referenceLayout(api, { title, path, guides, body });
    },

    errors: (): Html =>
      referenceLayout(api, {
        title: "Error codes",
        path: `${api.path}/errors`,
        guides,
        body: errorsBody(),
      }),

    missing: (): Html =>
      referenceLayout(api, {
        title: "Not found",
        path: "",
        guides,
        body: html`<h1>Not found</h1><p role="alert">The reference has no page at this address.</p>`,
      }),
  };
}

function operationList(api: ReferenceApi, tag: string, operations: readonly ApiOperation[]): Html {
  return html`<h2>${tag}</h2><dl class="operations">${operations.map(
    (one) =>
      html`<div><dt><a href="${operationPath(api, one)}">${titleOf(one)}</a> <code>${one.method.toUpperCase()} ${one.path}</code></dt><dd>${inline(one.description ?? "")}</dd></div>`,
  )}</dl>`;
}

const codeRow = ([code, why]: readonly [code: string, why: string]): Html =>
  html`<div id="${code}"><dt><a href="/docs/errors#${code}"><code>${code}</code></a></dt><dd><p>${inline(why)}</p></dd></div>`;

function errorsBody(): Html {
  const groups = Object.entries(errorGroups).map(
    ([name, codes]) =>
      html`<h2>${name}</h2><dl class="members">${Object.entries(codes).map(codeRow)}</dl>`,
  );
  return html`<h1>Error codes</h1>
<p class="lead">A refusal has a <code>code</code> that never changes its meaning, a <code>message</code> for people and, where members are at fault, <code>details</code>. Its <code>Link</code> header leads here.</p>
${groups}`;
}

/** Endpoints, guides and codes that have every word of a text. */
function searchBody(api: ReferenceApi, guides: readonly Guide[], text: string): Html {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const hasWords = (...texts: readonly string[]) => {
    const whole = texts.join(" ").toLowerCase();
    return words.every((word) => whole.includes(word));
  };
  const operations = operationsOf(api.document).filter((one) => hasWords(...searchedTexts(one)));
  const found = guides.filter(({ title, text: content }) => hasWords(title, content));
  const codes = Object.values(errorGroups).flatMap((group) =>
    Object.entries(group).filter(([code, why]) => hasWords(code, why)),
  );
  const total = operations.length + found.length + codes.length;
  return html`<h1>Search</h1>
<p role="status">${total === 0 ? `Nothing has “${text}”.` : `${total} results for “${text}”`}</p>
${operations.length > 0 && operationList(api, "Endpoints", operations)}
${found.length > 0 && html`<h2>Guides</h2><ul>${found.map(({ path, title }) => html`<li><a href="${path}">${title}</a></li>`)}</ul>`}
${codes.length > 0 && html`<h2>Error codes</h2><dl class="members">${codes.map(codeRow)}</dl>`}`;
}

function searchedTexts(operation: ApiOperation): string[] {
  const { method, path, description = "", tag, parameters = [], responses = {} } = operation;
  return [
    ...[titleOf(operation), operation.id, method, path, description, tag],
    ...parameters.flatMap(({ name, description: said = "" }) => [name, said]),
    ...Object.values(responses).flatMap((one) => codesOf(one)),
  ];
}
