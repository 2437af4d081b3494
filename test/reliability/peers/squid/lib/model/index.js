import { EntitySchema } from "typeorm";

/** As `squid-typeorm-codegen` makes them of a schema: a class with a constructor, here without decorators. */
const entity = () =>
  class {
    constructor(props) {
      Object.assign(this, props);
    }
  };

const id = { type: "text", primary: true };
const text = { type: "text" };
const integer = { type: "integer" };
const numeric = {
  type: "numeric",
  transformer: { to: (value) => value?.toString(), from: (value) => value && BigInt(value) },
};

export class Transfer extends entity() {}
export class Counter extends entity() {}
export class Sale extends entity() {}
export class Token extends entity() {}

const place = { id, number: integer, hash: text, logIndex: integer };

export const schemas = [
  new EntitySchema({
    ...{ name: "transfer", target: Transfer },
    columns: { ...place, tokenId: numeric, from: text, to: text },
  }),
  new EntitySchema({ name: "counter", target: Counter, columns: place }),
  new EntitySchema({
    ...{ name: "sale", target: Sale },
    columns: { id, hash: text, tokenId: numeric, price: numeric, seller: text, buyer: text },
  }),
  new EntitySchema({
    ...{ name: "token", target: Token },
    columns: { id, owner: text, number: integer },
  }),
];

export const [transferSchema, counterSchema, saleSchema, tokenSchema] = schemas;
