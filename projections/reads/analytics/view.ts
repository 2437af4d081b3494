/** A view for analysts: its comment, its columns as name, expression and comment, and its from clause. */
export type View = {
  readonly name: string;
  readonly comment: string;
  readonly columns: readonly (readonly [name: string, expression: string, comment: string])[];
  readonly from: string;
};

/** Bytes as lower-case 0x hex. */
export const hex = (bytes: string) => `'0x' || encode(${bytes}, 'hex')`;

/** Wei in whole units of a currency with 18 decimals, exact. */
export const inUnits = (wei: string) => `trim_scale(${wei} * 0.000000000000000001)`;

export const standardOf = (number: string) =>
  `case ${number} when 721 then 'erc721' when 1155 then 'erc1155' end`;

/** Statements that create a view in a schema, with comments on it and its columns. */
export function statementsOf(schema: string, { name, comment, columns, from }: View): string[] {
  const view = `${schema}.${name}`;
  const selected = columns.map(([column, expression]) => `${expression} as ${column}`);
  return [
    `create view ${view} as select ${selected.join(", ")} from ${from}`,
    `comment on view ${view} is ${quoted(comment)}`,
    ...columns.map(([column, , text]) => `comment on column ${view}.${column} is ${quoted(text)}`),
  ];
}

export const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** Joins to the contract and collection of row `o`; `named` are their columns. */
export const naming = `
  join log.contract k on k.contract_id = o.contract_id
  left join collections.contract m on m.contract_id = o.contract_id
  left join collections.collection c on c.collection_id = coalesce(m.collection_id, o.contract_id)
  left join log.contract main on main.contract_id = c.collection_id`;

export const named = [
  ["collection", hex("coalesce(main.address, k.address)"), "Its collection's primary contract"],
  ["collection_slug", "c.slug", "Its collection's slug; null for a contract without a collection"],
  ["contract", hex("k.address"), "NFT contract"],
] as const satisfies View["columns"];
