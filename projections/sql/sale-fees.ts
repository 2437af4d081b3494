/**
 * SQL: the fees of the row `sale` of `sales.sale`, with their kinds. Royalty is what goes to a recipient that was ever known
 * for the contract: required by a partner, stated by ERC-2981 or the operator, or that is configured for its collection.
 * Derived when it is read, as a source may become known long after the sale; the row itself tells service fees from others.
 */
export const feesOfSale = (sale: string): string => `
  case when ${sale}.fees @> '[{"kind": "other"}]' then (
    select jsonb_agg(case when fee.value ->> 'kind' = 'other' and ${isRoyalty(sale, "fee.value ->> 'recipient'")}
                          then fee.value || '{"kind": "royalty"}' else fee.value end order by fee.ordinality)
    from jsonb_array_elements(${sale}.fees) with ordinality fee
  ) else ${sale}.fees end`;

function isRoyalty(sale: string, recipient: string): string {
  const bytes = `decode(substr(${recipient}, 3), 'hex')`;
  const ofContract = `known.contract_id = ${sale}.contract_id and known.bps > 0 and known.recipient = ${bytes}`;
  return `(
    exists (select from collections.stated_royalty known where ${ofContract})
    or exists (select from collections.creator_fee known where ${ofContract} and known.counts)
    or exists (
      select from log.contract sold
      join collections.registry_contract member on member.chain_id = sold.chain_id and member.address = sold.address
      join collections.registry_collection known on known.collection_id = member.collection_id
      where sold.contract_id = ${sale}.contract_id and known.royalty_bps > 0 and known.royalty_recipient = ${bytes}
    ))`;
}
