// Runs in Ponder's process before Ponder. JavaScript, because nothing compiles it there.
//
// In the transaction of each block Ponder makes a temporary table, to which its triggers add the names of changed tables
// for live queries of its own server. Nobody makes any: the table took 4 of a block's 5 ms, and left dead rows in
// PostgreSQL's catalogs. Here the notification of a stored block names no tables; all else is as it was.
import pg from "pg";

/** Set in the transaction of a block alone: changes of Ponder's checkpoints elsewhere notify nobody. */
const inBlock = "ponder.in_block";
const temporaryTable = "CREATE TEMP TABLE live_query_tables ";
const procedure = /^\s*CREATE OR REPLACE FUNCTION ("[^"]+"\.live_query(?:_notify)?\(\))/;
const notification = /pg_notify\('([^']+)'/;

const { query } = pg.Client.prototype;
pg.Client.prototype.query = function queryWithoutTable(config, ...rest) {
  const text = typeof config === "string" ? config : config?.text;
  const replacement = typeof text === "string" ? replacementOf(text) : undefined;
  if (replacement === undefined) return query.call(this, config, ...rest);
  const replaced = typeof config === "string" ? replacement : { ...config, text: replacement };
  return query.call(this, replaced, ...rest);
};

function replacementOf(text) {
  if (text.startsWith(temporaryTable)) return `SET LOCAL ${inBlock} = on`;
  const [, name] = procedure.exec(text) ?? [];
  if (name === undefined) return undefined;
  const [, channel] = notification.exec(text) ?? [];
  const notify =
    channel === undefined
      ? ""
      : `IF current_setting('${inBlock}', true) = 'on' THEN PERFORM pg_notify('${channel}', '[]'); END IF;`;
  return `CREATE OR REPLACE FUNCTION ${name} RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      ${notify}
      RETURN NULL;
    END $$`;
}
