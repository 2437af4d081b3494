/** Prices in 10⁻⁸ USD. `hour` is made of `tick` alone: a year of an hour's candles is 8,760 rows, of ticks half a million. */
export function tables(schema: string): readonly string[] {
  return [
    `create table "${schema}"."tick" (
       coin      text        not null,
       minute    timestamptz not null,
       price_e8  bigint      not null,
       primary key (coin, minute)
     )`,
    `create table "${schema}"."hour" (
       coin      text        not null,
       hour      timestamptz not null,
       open_e8   bigint      not null,
       high_e8   bigint      not null,
       low_e8    bigint      not null,
       close_e8  bigint      not null,
       primary key (coin, hour)
     )`,
  ];
}
