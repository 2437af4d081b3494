/** Prices in 10⁻⁸ USD. `hour` is derived from `tick`: a year has 8,760 hours and half a million ticks. */
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
