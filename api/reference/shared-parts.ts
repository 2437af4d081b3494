type Json = Record<string, unknown>;
type Operation = { parameters?: Json[]; responses?: Record<string, Json> };
type Described = { readonly paths: object; readonly components?: object };

/**
 * The document with what several operations have written once, under `components`, and named where it was: parameters,
 * refusals, and schemas that have a title, which is their name. Changes and returns the document.
 */
export function withSharedParts<Document extends Described>(document: Document): Document {
  const components = (document.components ?? {}) as Record<string, Record<string, Json>>;
  const operations = Object.values(document.paths).flatMap((methods): Operation[] =>
    Object.values(methods as object),
  );
  const parameters = shelf("parameters", nameOfParameter);
  const responses = shelf("responses", nameOfRefusal);
  for (const { parameters: own = [], responses: answers = {} } of operations) {
    own.forEach(parameters.count);
    for (const [, one] of refusalsIn(answers)) responses.count(one);
  }
  for (const operation of operations) {
    operation.parameters?.forEach((one, at, all) => {
      all[at] = parameters.shared(one);
    });
    const answers = operation.responses ?? {};
    for (const [status, one] of refusalsIn(answers)) answers[status] = responses.shared(one);
  }
  const schemas: Record<string, Json> = {};
  shareTitled(document.paths, schemas);
  shareTitled(components, schemas);
  components.schemas = { ...components.schemas, ...schemas };
  components.responses = { ...components.responses, ...responses.kept };
  components.parameters = { ...components.parameters, ...parameters.kept };
  return document;
}

const refusalsIn = (answers: Record<string, Json>) =>
  Object.entries(answers).filter(([status, one]) => status >= "4" && one.$ref === undefined);

/** Parts of one kind, by what they say: those that are counted twice are kept and named. */
function shelf(kind: "parameters" | "responses", nameOf: (part: Json) => string) {
  const counts = new Map<string, number>();
  const names = new Map<string, string>();
  const kept: Record<string, Json> = {};
  return {
    kept,
    count(part: Json): void {
      const text = JSON.stringify(part);
      counts.set(text, (counts.get(text) ?? 0) + 1);
    },
    shared(part: Json): Json {
      const text = JSON.stringify(part);
      if ((counts.get(text) ?? 0) < 2) return part;
      const name = names.get(text) ?? freeName(kept, nameOf(part));
      names.set(text, name);
      kept[name] = part;
      return { $ref: `#/components/${kind}/${name}` };
    },
  };
}

function freeName(kept: object, name: string, at = 1): string {
  const tried = at === 1 ? name : `${name}${at}`;
  return tried in kept ? freeName(kept, name, at + 1) : tried;
}

const nameOfParameter = ({ name }: Json): string => inPascalCase(String(name));

/** Its first two codes. */
function nameOfRefusal({ description }: Json): string {
  const codes = [...String(description).matchAll(/`(\w+)`/g)].map(([, code = ""]) => code);
  const named = codes.slice(0, 2).map(inPascalCase).join("Or");
  return codes.length > 2 ? `${named}OrMore` : named;
}

const inPascalCase = (name: string): string =>
  name.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** Moves schemas that have a title to `kept`, the inner ones first; what is said of one where it stands stays there. */
function shareTitled(node: unknown, kept: Record<string, Json>): void {
  if (typeof node !== "object" || node === null) return;
  const parts = node as Json;
  for (const [key, part] of Object.entries(parts)) {
    if (key === "example" || key === "examples") continue;
    shareTitled(part, kept);
    const { title, description, ...schema } = Object(part) as Json;
    if (typeof title !== "string") continue;
    kept[title] ??= schema;
    if (JSON.stringify(kept[title]) !== JSON.stringify(schema))
      throw new Error(`Two schemas are called ${title}`);
    parts[key] = {
      $ref: `#/components/schemas/${title}`,
      ...(description !== undefined && { description }),
    };
  }
}
