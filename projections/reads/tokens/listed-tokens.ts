import { type RawBuilder, sql } from "kysely";
import { anyValue } from "../../sql/any-value.ts";
import { idsHaving, type Rows, type Source } from "./candidates.ts";
import { familyOf, fitsTraits, isOfTraits, type TokenKey, type TokensFilter } from "./filter.ts";
import { stands } from "./listed-now.ts";

export type Direction = { towards: RawBuilder<unknown>; than: RawBuilder<unknown> };

type ListedOrder = { direction: Direction; isTime: boolean };

const priced = sql`l.contract_id, l.token_id, l.standard, l.unit_price_wei as value`;
const timed = sql`
  l.contract_id, l.token_id, l.standard, (extract(epoch from l.listed_at) * 1000000)::bigint::numeric as value`;

/** Listed tokens by price, or by when they were listed: those that stand, and those that another listing still lists. */
export function listedTokens(filter: TokensFilter, source: Source, order: ListedOrder): Rows {
  const columns = order.isTime ? timed : priced;
  const isMeant =
    source === "chosen"
      ? sql`(l.contract_id, l.token_id, l.standard) in (select * from chosen)`
      : sql`l.contract_id = any (${familyOf(filter)}) and ${fitsTraits(filter, "l")}`;
  return (after, limit) => {
    const place = placeOf(after, order);
    return sql`
      ${standing(filter, source, order, { ...place, limit })}
      union all
      select ${columns} from relisted l where ${isMeant} and ${place.beyond}`;
  };
}

function standing(
  filter: TokensFilter,
  source: Source,
  order: ListedOrder,
  slice: Slice,
): RawBuilder<unknown> {
  if (source === "walk") {
    const walk = isOfTraits(filter) && !order.isTime ? walkOfTrait : walkOfAll;
    return walk(filter, order, slice);
  }
  const [candidates, isSame] =
    source === "chosen" ? [sql`chosen`, sql`and l.standard = c.standard`] : [idsHaving, sql``];
  return sql`
    select l.* from ${candidates} c cross join lateral (
      select ${order.isTime ? timed : priced} from traits.listed l
      where l.contract_id = c.contract_id and l.token_id = c.token_id ${isSame} and ${stands("l")}
        and ${slice.beyond}
      offset 0
    ) l`;
}

type Slice = Record<"beyond" | "from" | "limit", RawBuilder<unknown>>;

/** Along the listed tokens of each contract. */
function walkOfAll(
  filter: TokensFilter,
  { direction: { towards }, isTime }: ListedOrder,
  { beyond, limit }: Slice,
): RawBuilder<unknown> {
  return sql`
    select l.* from unnest(${familyOf(filter)}) family (contract_id) cross join lateral (
      select ${isTime ? timed : priced} from traits.listed l
      where l.contract_id = family.contract_id and ${stands("l")} and ${beyond} and ${fitsTraits(filter, "l")}
      order by ${columnOf(isTime)} ${towards}, l.token_id ${towards} limit ${limit}
    ) l`;
}

/**
 * Along those with the rarest trait, of each contract and each of its keys: a token has one of them. Its standard is
 * looked up of the page's tokens alone, and of the one at the cursor, which may have another.
 */
function walkOfTrait(
  filter: TokensFilter,
  { direction: { towards } }: ListedOrder,
  { beyond, from, limit }: Slice,
): RawBuilder<unknown> {
  const [keys = []] = filter.traitKeys ?? [];
  return sql`
    select l.contract_id, l.token_id, l.standard, l.unit_price_wei as value
    from unnest(${familyOf(filter)}) family (contract_id)
    cross join unnest(${anyValue(keys, "uuid[]")}) own (trait_key)
    cross join lateral (
      select l.* from traits.listed_trait l
      where l.contract_id = family.contract_id and l.trait_key = own.trait_key and ${stands("l")}
        and ${from} and ${fitsTraits(filter, "l", 1)}
      order by l.unit_price_wei ${towards}, l.token_id ${towards} limit ${limit} + 1
    ) place
    cross join lateral (
      select l.* from traits.listed l
      where l.contract_id = place.contract_id and l.token_id = place.token_id and ${beyond} offset 0
    ) l`;
}

const columnOf = (isTime: boolean) => (isTime ? sql`l.listed_at` : sql`l.unit_price_wei`);

/** Rows `l` behind the cursor; `from`: whatever their standard, so that the one at the cursor is among them. */
function placeOf(
  after: TokenKey | null,
  { direction: { than }, isTime }: ListedOrder,
): Pick<Slice, "beyond" | "from"> {
  if (after === null) return { beyond: sql`true`, from: sql`true` };
  const { value, tokenId, contractId, standard } = after;
  const bound = isTime
    ? sql`(timestamptz 'epoch' + ${anyValue(Number(value), "float8")} * interval '1 microsecond')`
    : anyValue(String(value), "numeric");
  const columns = sql`${columnOf(isTime)}, l.token_id, l.contract_id`;
  const place = sql`${bound}, ${anyValue(String(tokenId), "numeric")}, ${anyValue(contractId, "int")}`;
  return {
    beyond: sql`(${columns}, l.standard) ${than} (${place}, ${anyValue(standard, "smallint")})`,
    from: sql`(${columns}) ${than}= (${place})`,
  };
}
