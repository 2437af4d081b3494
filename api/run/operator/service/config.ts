import { readConfig, readEnvironment } from "#api/run/config/read-config.ts";
import { renderDocument, renderExample, renderInEffect } from "#api/run/config/render.ts";

type Options = { json?: boolean; table?: boolean; example?: boolean };

export function config(options: Options): void {
  process.stdout.write(`${text(options).trimEnd()}\n`);
}

function text({ json, table, example }: Options): string {
  if (table) return renderDocument();
  if (example) return renderExample();
  const environment = readEnvironment();
  readConfig(environment);
  const settings = renderInEffect(environment);
  if (json) return JSON.stringify(settings);
  return settings
    .map(
      ({ name, value, isDefault }) => `${name.padEnd(30)}${value}${isDefault ? "  (default)" : ""}`,
    )
    .join("\n");
}
