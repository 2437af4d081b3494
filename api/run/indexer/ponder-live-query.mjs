// Runs in Ponder's process before Ponder. JavaScript, because nothing compiles it there.
//
// For live queries of its own server, which nobody makes, Ponder has a temporary table made and dropped in the transaction
// of each block, and each row of it add its table's name: 4 of 5 ms of a block with one row, and dead rows in PostgreSQL's
// catalogs. Here the notification of a stored block stays, without the names of tables.
import pg from "pg";

/** Set in the transaction of a block: changes of Ponder's checkpoints elsewhere notify nobody. */
const inBlock = "ponder.in_block";
const table = "live_query_tables";

/** What Ponder executes, with each start or block, and what is executed in its place. */
const replacements = [
  { of: new RegExp(`^CREATE TEMP TABLE ${table} `), by: () => `SET LOCAL ${inBlock} = on` },
  {
    of: /^\s*CREATE OR REPLACE TRIGGER "live_query"\s+AFTER [A-Z ]+ ON ("[^"]+"\."[^"]+")/,
    by: (_, [, changed]) => `DROP TRIGGER IF EXISTS "live_query" ON ${changed}`,
  },
  {
    of: /^\s*CREATE OR REPLACE TRIGGER "live_query_notify"\s+AFTER [A-Z ]+ ON "([^"]+)"/,
    by: (trigger, [, schema]) => `${notifyFunction(schema)};\n${trigger}`,
  },
];

/** Over Ponder's own of a schema. It notifies of the blocks of an earlier release too, which makes the table. */
const notifyFunction = (schema) => `
  CREATE OR REPLACE FUNCTION "${schema}".live_query_notify() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF current_setting('${inBlock}', true) = 'on' OR to_regclass('pg_temp.${table}') IS NOT NULL THEN
      PERFORM pg_notify('${schema}_live_query', '[]');
    END IF;
    RETURN NULL;
  END $$`;

const { query } = pg.Client.prototype;
pg.Client.prototype.query = function queryWithoutTable(config, ...rest) {
  const text = typeof config === "string" ? config : config?.text;
  const replacement = typeof text === "string" ? replacementOf(text) : undefined;
  if (replacement === undefined) return query.call(this, config, ...rest);
  const replaced = typeof config === "string" ? replacement : { ...config, text: replacement };
  return query.call(this, replaced, ...rest);
};

function replacementOf(text) {
  for (const { of, by } of replacements) {
    const match = of.exec(text);
    if (match !== null) return by(text, match);
  }
  return undefined;
}
