import {
  type ApiOperation,
  type ApiResponse,
  codesOf,
  type Parameter,
  resolve,
  titleOf,
} from "../../reference/api-document.ts";
import { type Html, html } from "../kit/html.ts";
import {
  clientSample,
  curlSample,
  type ExampleCall,
  exampleCall,
  pythonSample,
} from "./code-samples.ts";
import type { ReferenceApi } from "./layout.ts";
import { inline, prose, schemaMembers, typeMark, valueNotes } from "./schema-members.ts";

/** What an endpoint takes, answers and refuses. */
export function operationBody(api: ReferenceApi, operation: ApiOperation): Html {
  const { method, path, description = "" } = operation;
  return html`<h1>${titleOf(operation)}</h1>
<p class="address"><span class="method">${method.toUpperCase()}</span> <code>${path}</code></p>
<p class="lead">${inline(description)}</p>
${credentialNote(api, operation)}
${parameterSection(api, operation)}
${bodySection(api, operation)}
${answerSection(api, operation)}
${refusalSection(operation)}`;
}

const refuses = ({ responses = {} }: ApiOperation, code: string): boolean =>
  Object.values(responses).some((one) => codesOf(one).includes(code));

/** Whether it answers nobody without a credential. */
function needsCredential({ document }: ReferenceApi, operation: ApiOperation): boolean {
  const { security = document.security ?? [] } = operation;
  const isOptional = security.length === 0 || security.some((one) => Object.keys(one).length === 0);
  return !isOptional || refuses(operation, "key_required");
}

function credentialNote(api: ReferenceApi, operation: ApiOperation): Html {
  const { header } = api.credential;
  if (needsCredential(api, operation))
    return html`<p>Needs a credential in <code>${header}</code>.</p>`;
  return refuses(operation, "invalid_key")
    ? html`<p class="quiet">Needs no key. One in <code>${header}</code> gives a limit of your own.</p>`
    : html`<p class="quiet">Needs no key.</p>`;
}

const places = { path: "In the path", query: "In the query", header: "Headers" } as const;

function parameterSection(api: ReferenceApi, operation: ApiOperation): Html | null {
  const all = operation.parameters ?? [];
  if (all.length === 0) return null;
  const groups = (["path", "query", "header"] as const).map((place) => {
    const rows = all.filter((one) => one.in === place);
    return (
      rows.length > 0 &&
      html`<h3>${places[place]}</h3><dl class="members">${rows.map((one) => parameterRow(api, one))}</dl>`
    );
  });
  return html`<h2 id="parameters">Parameters</h2>${groups}`;
}

function parameterRow({ document }: ReferenceApi, parameter: Parameter): Html {
  const { name, in: place, required, schema = {}, description = schema.description } = parameter;
  return html`<div><dt><code>${name}</code> ${typeMark(document, schema)}${required && place !== "path" && html` <span class="mark">required</span>`}</dt>
<dd>${prose(description)}${valueNotes(document, schema)}</dd></div>`;
}

function bodySection({ document }: ReferenceApi, { requestBody }: ApiOperation): Html | null {
  const schema = requestBody?.content?.["application/json"]?.schema;
  if (schema === undefined) return null;
  const members = schemaMembers(document, schema);
  return html`<h2 id="body">Body</h2>${members ?? html`<p>JSON.</p>`}`;
}

const successOf = ({
  responses = {},
}: ApiOperation): [status: string, response: ApiResponse] | undefined =>
  Object.entries(responses).find(([status]) => status.startsWith("2"));

function answerSection({ document }: ReferenceApi, operation: ApiOperation): Html | null {
  const [status, success] = successOf(operation) ?? [];
  if (success === undefined) return null;
  const { description = "", content = {} } = resolve(document, success);
  const schema = content["application/json"]?.schema;
  const members = schema === undefined ? null : schemaMembers(document, schema);
  const types = Object.keys(content);
  return html`<h2 id="answer">Answer <span class="mark good">${status}</span></h2>
${prose(description)}${members ?? html`<p class="quiet">${types.map((type, at) => html`${at > 0 && ", "}<code>${type}</code>`)}</p>`}`;
}

function refusalSection(operation: ApiOperation): Html | null {
  const rows = Object.entries(operation.responses ?? {}).flatMap(([status, one]) => {
    const codes = codesOf(one);
    return codes.length === 0 || !/^\d+$/.test(status) ? [] : [{ status, codes }];
  });
  if (rows.length === 0) return null;
  return html`<h2 id="errors">Errors</h2>
<table class="errors"><thead><tr><th scope="col">Status</th><th scope="col">Code</th></tr></thead><tbody>
${rows.map(({ status, codes }) => html`<tr><td>${status}</td><td>${codes.map((code) => html`<a href="/docs/errors#${code}"><code>${code}</code></a> `)}</td></tr>`)}
</tbody></table>`;
}

/** An operation's example as a call. */
function callOf(api: ReferenceApi, operation: ApiOperation): ExampleCall {
  const credential = needsCredential(api, operation) ? api.credential : null;
  return exampleCall(operation, operation.parameters ?? [], { baseUrl: api.baseUrl, credential });
}

/** What can be copied and run: the example in three languages, its answer, and a form that sends it. */
export function operationAside(api: ReferenceApi, operation: ApiOperation): Html {
  const call = callOf(api, operation);
  const samples: readonly (readonly [language: string, code: string])[] = [
    ["curl", curlSample(call)],
    ...(api.hasClient ? [["TypeScript", clientSample(call, api.baseUrl)] as const] : []),
    ["Python", pythonSample(call)],
  ];
  const [, success] = successOf(operation) ?? [];
  const answer = success?.content?.["application/json"]?.example;
  return html`${samples.map(([language, code], at) => html`<details class="sample" name="language" data-language="${language}"${at === 0 && html` open`}><summary>${language}</summary><pre tabindex="0"><code>${code}</code></pre></details>`)}
${answer !== undefined && html`<h2>Answer of the example</h2><pre class="answer" tabindex="0"><code>${JSON.stringify(answer, null, 2)}</code></pre>`}
${runForm(api, operation, call)}`;
}

/** Sends the call from the page; shown by the page's script, without which it does nothing. */
function runForm(api: ReferenceApi, operation: ApiOperation, { body }: ExampleCall): Html {
  const fields = (operation.parameters ?? []).filter(
    ({ in: place, schema }) => place !== "header" && schema?.type !== "object",
  );
  const isFirst = ({ required, example }: Parameter) => required === true || example !== undefined;
  const others = fields.filter((one) => !isFirst(one));
  const { header, value } = api.credential;
  const below = new URL(api.baseUrl).pathname.replace(/\/$/, "");
  return html`<form class="run" hidden data-method="${operation.method.toUpperCase()}" data-address="${below + operation.path}">
<h2>Try it</h2>
${fields.filter(isFirst).map(parameterField)}
${others.length > 0 && html`<details><summary>${others.length} further parameters</summary>${others.map(parameterField)}</details>`}
${body !== undefined && html`<label>Body<textarea name="body" rows="10" spellcheck="false">${JSON.stringify(body, null, 2)}</textarea></label>`}
<label>${header}<input type="password" name="credential" data-header="${header}" autocomplete="off" placeholder="${value}"></label>
<button class="primary">Send</button>
<p class="outcome" role="status"></p>
<pre class="received" tabindex="0" hidden></pre>
</form>`;
}

function parameterField({ name, in: place, example, required }: Parameter): Html {
  const value = example === undefined || typeof example === "object" ? "" : String(example);
  return html`<label>${name}<input name="${name}" data-in="${place}" value="${value}"${required && html` required`}></label>`;
}
