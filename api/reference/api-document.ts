/** A JSON Schema, as far as our documents use them. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
};

export type Parameter = {
  readonly $ref?: string;
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
  readonly example?: unknown;
};

type Media = { readonly schema?: Schema; readonly example?: unknown };
type Content = Readonly<Record<string, Media>>;

export type ApiResponse = {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Content;
};

type DescribedOperation = {
  readonly operationId?: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content?: Content; readonly required?: boolean };
  readonly responses?: Readonly<Record<string, ApiResponse>>;
};

/** An OpenAPI document of ours. */
export type ApiDocument = {
  readonly info: { readonly title: string; readonly description?: string };
  readonly security?: readonly object[];
  readonly paths: object;
  readonly components?: object;
};

/** What `fetch` calls an endpoint: its method, path and description. */
export type ApiOperation = DescribedOperation & {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly tag: string;
};

type Parts = Pick<ApiDocument, "paths" | "components">;

/** All operations, in the order of the document, with the parameters and answers that they share with others. */
export function operationsOf(document: Parts): ApiOperation[] {
  const paths = document.paths as Record<string, Record<string, DescribedOperation>>;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({
      ...one,
      ...(one.parameters && { parameters: one.parameters.map((part) => resolve(document, part)) }),
      responses: Object.fromEntries(
        Object.entries(one.responses ?? {}).map(([status, part]) => [
          status,
          resolve(document, part),
        ]),
      ),
      ...{ id: one.operationId ?? "", method, path, tag: one.tags?.[0] ?? "" },
    })),
  );
}

/** What stands in the document where another part of it is named. */
export function resolve<Part extends { readonly $ref?: string }>(
  document: Parts,
  part: Part,
): Part {
  if (part.$ref === undefined) return part;
  const names = part.$ref.replace(/^#\//, "").split("/");
  const named = names.reduce<unknown>(
    (one, name) => (one as Record<string, unknown>)[name],
    document,
  );
  return resolve(document, named as Part);
}

/** The codes that a refusal may have. */
export const codesOf = ({ content }: ApiResponse): readonly string[] =>
  (content?.["application/json"]?.schema?.properties?.code?.enum ?? []).map(String);

/** `listTokenActivity` as people read it: `List token activity`. */
export function titleOf({ id }: Pick<ApiOperation, "id">): string {
  const words = id.replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
