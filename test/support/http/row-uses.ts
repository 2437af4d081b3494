type Parameter = {
  readonly name?: string;
  readonly schema?: { readonly items?: { readonly enum?: readonly string[] } };
};
type Rows = { readonly anyOf?: readonly { readonly $ref: string }[] };
type Operation = {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly content: Readonly<
          Record<
            string,
            {
              readonly schema: { readonly properties: { readonly data: { readonly items: Rows } } };
            }
          >
        >;
      }
    >
  >;
};
type Document = { readonly paths: Readonly<Record<string, { readonly get?: Operation }>> };

/**
 * A program that reads the rows of each list with `fields` by both generators' types: of a row that a list answers any field
 * may be absent, a whole row has all of them. `lists`: how many there are.
 */
export function rowUses(document: Document): { program: string; lists: number } {
  const uses = Object.entries(document.paths).flatMap(([path, { get }], at) => {
    const names = get?.parameters?.find(({ name }) => name === "fields")?.schema?.items?.enum ?? [];
    if (get === undefined || names.length === 0) return [];
    const { data } = get.responses["200"]?.content["application/json"]?.schema.properties ?? {};
    const whole = data?.items.anyOf?.[0]?.$ref.split("/").at(-1) ?? "never";
    const method = get.operationId.replace(/^./, (letter) => letter.toUpperCase());
    const answered = `paths["${path}"]["get"]["responses"][200]["content"]["application/json"]`;
    return [
      usesOf(`a${at}`, names, `${answered}["data"][number]`, `components["schemas"]["${whole}"]`),
      usesOf(`b${at}`, names, `types.${method}Responses[200]["data"][number]`, `types.${whole}`),
    ];
  });
  const imports = [
    'import type * as types from "./sdk/types.gen";',
    'import type { components, paths } from "./schema.ts";',
  ];
  return { program: [...imports, ...uses].join("\n"), lists: uses.length / 2 };
}

const usesOf = (name: string, [field = ""]: readonly string[], row: string, whole: string) => `
export const ${name}Nothing: ${row} = {};
export const ${name}Whole = (row: ${whole}): ${row} => row;
export const ${name}Known = (row: ${whole}) => row.${field}.toString();
// @ts-expect-error: it may not have been asked for.
export const ${name}Unknown = (row: ${row}) => row.${field}.toString();
export const ${name}Asked = (row: ${row}) => row.${field}?.toString();`;
