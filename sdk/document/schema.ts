/** A JSON schema as the documents use them. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
};

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

export type Parameter = {
  readonly $ref?: string;
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly style?: string;
  readonly explode?: boolean;
  readonly schema?: Schema;
};

export type Operation = {
  readonly operationId?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<
    Record<string, { readonly $ref?: string; readonly content?: Content }>
  >;
};

export type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: {
    readonly schemas?: Readonly<Record<string, Schema>>;
    readonly responses?: Readonly<Record<string, { readonly content?: Content }>>;
  };
};

/** What a local `#/…` reference points to; the value itself where it is none. */
export function resolve<Value extends { readonly $ref?: string }>(
  document: Document,
  value: Value,
): Value {
  if (value.$ref === undefined) return value;
  const steps = value.$ref.replace("#/", "").split("/");
  const found = steps.reduce<unknown>(
    (at, step) => (at as Record<string, unknown> | undefined)?.[step],
    document,
  );
  if (found === undefined) throw new Error(`${value.$ref} is not in the document`);
  return resolve(document, found as Value);
}

/** The alternatives of a schema, each of one type; a schema without a type is the type `any`. */
export function variantsOf(document: Document, schema: Schema): readonly Variant[] {
  const found = resolve(document, schema);
  const alternatives = found.anyOf ?? found.oneOf;
  if (alternatives !== undefined) return alternatives.flatMap((one) => variantsOf(document, one));
  const types = found.type === undefined ? [typeOfValues(found)] : [found.type].flat();
  return types.map((type) => ({ type, schema: found }));
}

export type Variant = { readonly type: string; readonly schema: Schema };

function typeOfValues(schema: Schema): string {
  const [value] = valuesOf(schema) ?? [];
  if (value === undefined) return schema.properties === undefined ? "any" : "object";
  return value === null ? "null" : typeof value;
}

/** The values that a schema is limited to; undefined: any of its type. */
export function valuesOf({ enum: values, const: value }: Schema): readonly unknown[] | undefined {
  return values ?? (value === undefined ? undefined : [value]);
}
