import { Environment } from "./environment.ts";
import { aboutSetting, maskUrl } from "./setting.ts";

type Described = {
  name: string;
  meaning: string;
  expectation: string;
  example: string;
  secret: boolean;
  /** The default, as a person reads it. */
  fallback: string;
};

function describeSettings(): Described[] {
  return Object.entries(Environment.shape).map(([name, schema]) => {
    const about = aboutSetting(name, schema);
    const fallback = about.fallback ?? String(schema.parse(undefined));
    return { ...about, name, fallback, secret: about.secret ?? false };
  });
}

/** The README's table. */
export function renderTable(): string {
  const rows = describeSettings().map(
    ({ name, fallback, meaning }) => `| \`${name}\` | ${fallback} | ${meaning} |`,
  );
  return ["| name | default | meaning |", "|---|---|---|", ...rows].join("\n");
}

/** `.env.example`: every setting, switched off. */
export function renderExample(): string {
  const blocks = describeSettings().map(
    ({ name, meaning, expectation, fallback, example }) =>
      `# ${meaning}: ${expectation}. Default: ${fallback}\n# ${name}=${example}\n`,
  );
  return `# Copy to .env and switch on what differs. Made by: npm run op -- config --example\n\n${blocks.join("\n")}`;
}

export type InForce = { name: string; value: string; isDefault: boolean };

/** What is in force, setting by setting; keys and passwords are masked. */
export function renderInForce(variables: Record<string, string | undefined>): InForce[] {
  return describeSettings().map(({ name, fallback, secret }) => {
    const given = variables[name]?.trim();
    if (!given) return { name, value: fallback, isDefault: true };
    const masked = secret ? given.split(",").map((url) => maskUrl(url.trim())) : [given];
    return { name, value: masked.join(","), isDefault: false };
  });
}
