import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "@hey-api/openapi-ts";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";
import type { OperationRequests } from "./operation-requests.ts";

type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { operationId?: unknown }>>>>;
};

/** What a client was answered, by operation. */
export type ClientAnswers = Record<string, { status: number; body: unknown }>;
type Caller = (baseUrl: string, headers: object) => Promise<ClientAnswers>;

export type GeneratedClients = {
  /** What the compiler says against the clients and the calls, in strict mode. */
  errors: readonly string[];
  /** The same against a program beside the clients' types, `schema.ts` and `sdk/types.gen.ts`. */
  errorsOf(program: string): Promise<readonly string[]>;
  /** Calls every operation, one after another, through openapi-fetch and through the SDK of openapi-ts. */
  callers(): Promise<{ openapiFetch: Caller; openapiTs: Caller }>;
  delete(): Promise<void>;
};

const root = join(import.meta.dirname, "../../..");

/** Two clients of a document by public generators, and a program for each that sends these requests. */
export async function generateClients(
  document: Document,
  requests: OperationRequests,
): Promise<GeneratedClients> {
  // Below the project, where imports find its packages; not in git and not part of its own compilation.
  await mkdir(join(root, "generated"), { recursive: true });
  const directory = await mkdtemp(join(root, "generated/clients-"));
  const input = join(directory, "openapi.json");
  await writeFile(input, JSON.stringify(document));
  await writeFile(
    join(directory, "schema.ts"),
    astToString(await openapiTS(structuredClone(document) as never)),
  );
  await createClient({
    input,
    output: { path: join(directory, "sdk"), postProcess: [] },
    logs: { level: "silent", file: false },
    plugins: ["@hey-api/typescript", "@hey-api/sdk", "@hey-api/client-fetch"],
  });
  const files = {
    openapiFetch: join(directory, "openapi-fetch.ts"),
    openapiTs: join(directory, "openapi-ts.ts"),
  };
  await writeFile(files.openapiFetch, fetchProgram(document, requests));
  await writeFile(files.openapiTs, sdkProgram(document, requests));
  const load = async (file: string): Promise<Caller> => (await import(file)).callAll;
  return {
    errors: compile(Object.values(files)),
    async errorsOf(program) {
      const file = join(directory, "uses.ts");
      await writeFile(file, program);
      return compile([file]);
    },
    callers: async () => ({
      openapiFetch: await load(files.openapiFetch),
      openapiTs: await load(files.openapiTs),
    }),
    delete: () => rm(directory, { recursive: true }),
  };
}

function fetchProgram(document: Document, requests: OperationRequests): string {
  const calls = operationsOf(document).map(({ name, method, path }) => {
    const { body, ...params } = requests[name] ?? {};
    const init = JSON.stringify({ params, body });
    return call(name, `client.${method.toUpperCase()}(${JSON.stringify(path)}, ${init})`);
  });
  const opening = [
    'import createClient from "openapi-fetch";',
    'import type { paths } from "./schema.ts";',
  ];
  return program(opening, "const client = createClient<paths>({ baseUrl, headers });", calls);
}

function sdkProgram(document: Document, requests: OperationRequests): string {
  const calls = operationsOf(document).map(({ name, operationId }) =>
    call(name, `sdk.${operationId}(${JSON.stringify(requests[name] ?? {})})`),
  );
  const opening = [
    'import { client } from "./sdk/client.gen";',
    'import * as sdk from "./sdk/sdk.gen";',
  ];
  return program(opening, "client.setConfig({ baseUrl, headers });", calls);
}

const operationsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => ({
      ...{ path, method, operationId: String(operationId) },
      name: `${method} ${path}`,
    })),
  );

const call = (name: string, sent: string) =>
  `  answers[${JSON.stringify(name)}] = told(await ${sent});`;

const program = (opening: readonly string[], start: string, calls: readonly string[]) => `
${opening.join("\n")}
type Answer = { status: number; body: unknown };
function told({ data, error, response }: { data?: unknown; error?: unknown; response?: Response }): Answer {
  if (response === undefined) throw error;
  return { status: response.status, body: data ?? error };
}
export async function callAll(baseUrl: string, headers: Record<string, string>) {
  ${start}
  const answers: Record<string, Answer> = {};
${calls.join("\n")}
  return answers;
}
`;

function compile(files: readonly string[]): string[] {
  const program = ts.createProgram(files, {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
    types: [],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
  });
  return ts.getPreEmitDiagnostics(program).map(({ messageText, file, start = 0 }) => {
    const line = file && file.getLineAndCharacterOfPosition(start).line + 1;
    return `${file?.fileName}:${line} ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
  });
}
