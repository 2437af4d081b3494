import { z } from "zod";
import { reject } from "../../../../projections/domain/rejection.ts";
import {
  type OrderKey,
  type OrderSort,
  keyOf as placeOf,
} from "../../../../projections/reads/orders/read-page.ts";
import type { ShownOrder } from "../../../../projections/reads/orders/read-shown.ts";
import { cursorInteger } from "../../http/page.ts";

/** Digits are those of a uint256 and of a bigint column. */
export const orderKey = z
  .tuple([cursorInteger(78), cursorInteger(18)])
  .transform(([value, position]): OrderKey => ({ value, position }));

export function orderKeyOf(sort: OrderSort) {
  return (row: ShownOrder) => {
    const { value, position } = placeOf(sort, row);
    return [value, position];
  };
}

type TokenQuery = { collection?: string | undefined; token_id?: bigint | undefined };

export function tokenWithoutCollection({ collection, token_id }: TokenQuery) {
  if (token_id === undefined || collection !== undefined) return undefined;
  const message = "needs collection, since ids repeat between collections";
  return reject("invalid_parameters", `token_id: ${message}`, [{ field: "token_id", message }]);
}
