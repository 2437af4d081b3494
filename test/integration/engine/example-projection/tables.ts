/** A row per contract with NFT transfers. */
export function tables(schema: string): readonly string[] {
  return [
    `create table "${schema}"."contract" (
       contract_id integer primary key,
       transfers   bigint  not null
     )`,
    `comment on column "${schema}"."contract".transfers is 'Effective ERC-721 and ERC-1155 transfers'`,
  ];
}
