import {
  type ApiDocument,
  type ApiOperation,
  operationsOf,
  titleOf,
} from "../../reference/api-document.ts";
import { menuLink, pageDocument, type Website } from "../kit/document.ts";
import { type Html, html } from "../kit/html.ts";

/** An API that has a reference, and where. */
export type ReferenceApi = {
  /** Of its pages: `/docs`. */
  readonly path: string;
  /** Public address of the API, to which the document's paths are relative. */
  readonly baseUrl: string;
  /** Path of the document that programs read. */
  readonly documentPath: string;
  /** What a caller sends that the endpoint does not answer otherwise. */
  readonly credential: { readonly header: string; readonly value: string };
  /** Whether the client of this project calls it. */
  readonly hasClient: boolean;
  readonly document: ApiDocument;
};

export const referenceSite: Website = {
  name: "API reference",
  assets: "/docs/assets",
  files: "reference",
};

/** Of a text about all references. */
export type GuideEntry = {
  readonly path: string;
  readonly title: string;
  /** Its heading in the contents; null: another text leads to it. */
  readonly group: string | null;
};

type ReferencePage = {
  readonly title: string;
  /** Of what is current in the navigation. */
  readonly path: string;
  readonly body: Html;
  /** Beside it: what can be copied and run. */
  readonly aside?: Html;
  readonly guides: readonly GuideEntry[];
  /** What is searched for. */
  readonly search?: string;
};

/** A page of a reference, with the way to all others. */
export function referenceLayout(api: ReferenceApi, page: ReferencePage): Html {
  const { title, path, body, aside, guides, search = "" } = page;
  return pageDocument(referenceSite, {
    title,
    home: api.path,
    bar: html`<form class="search" action="${api.path}" method="get" role="search">
<input type="search" name="q" value="${search}" maxlength="100" placeholder="Endpoint, parameter, error code" aria-label="Search the reference">
<button>Search</button>
</form>
<nav class="menu" aria-label="Main">${menuLink(api.path, "Reference", path === api.path)}${menuLink("/developers", "Keys")}${menuLink("/", "Market")}</nav>`,
    body: html`<div class="reference">
<details class="contents" open><summary>Contents</summary>${contents(api, guides, path)}</details>
<article>${body}</article>
${aside !== undefined && html`<aside aria-label="Examples">${aside}</aside>`}
</div>`,
    footer: html`<p><a href="${api.documentPath}">OpenAPI</a> · <a href="/llms.txt">llms.txt</a> · <a href="/postman.json">Postman</a> · <a href="/v1/status">How far the chains are indexed</a></p>`,
  });
}

export const operationPath = (api: Pick<ReferenceApi, "path">, { id }: Pick<ApiOperation, "id">) =>
  `${api.path}/operations/${id}`;

/** Operations by their tag, in the order of the document. */
export function operationsByTag(
  document: ApiDocument,
): [tag: string, operations: ApiOperation[]][] {
  const byTag = new Map<string, ApiOperation[]>();
  for (const one of operationsOf(document))
    byTag.set(one.tag, [...(byTag.get(one.tag) ?? []), one]);
  return [...byTag];
}

function contents(api: ReferenceApi, guides: readonly GuideEntry[], current: string): Html {
  const link = (href: string, text: string | Html) =>
    html`<li><a href="${href}"${href === current && html` aria-current="page"`}>${text}</a></li>`;
  const list = (heading: string, links: readonly Html[]) =>
    html`<h2>${heading}</h2><ul>${links}</ul>`;
  const endpoints = operationsByTag(api.document).map(([tag, operations]) =>
    list(
      tag,
      operations.map((one) =>
        link(operationPath(api, one), html`${titleOf(one)}${methodMark(one)}`),
      ),
    ),
  );
  const [first, ...others] = [...Map.groupBy(guides, ({ group }) => group)].flatMap(
    ([group, entries]) =>
      group === null ? [] : [[group, entries.map((one) => link(one.path, one.title))] as const],
  );
  const errors = link(`${api.path}/errors`, "Error codes");
  return html`<nav aria-label="Contents">
${first !== undefined && list(first[0], [...first[1], errors])}
${endpoints}
${others.map(([group, links]) => list(group, links))}
</nav>`;
}

/** What is read is not marked. */
const methodMark = ({ method }: ApiOperation): Html | false =>
  method !== "get" && html` <span class="method">${method.toUpperCase()}</span>`;
