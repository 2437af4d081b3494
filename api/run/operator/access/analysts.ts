import { readFileSync } from "node:fs";
import { type Command, InvalidArgumentError } from "commander";
import { isRejection } from "../../../../projections/domain/rejection.ts";
import {
  areViewsBound,
  bindViewsIfStale,
} from "../../../../projections/reads/analytics/bind-views.ts";
import { grantRole, revokeRole } from "../../../../projections/reads/analytics/grant-role.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";

type Json = { json?: boolean };
type GrantOptions = Json & { passwordFile?: string; timeout: number };

/** `op analysts grant` and `op analysts revoke` */
export function addAnalysts(program: Command): void {
  const analysts = program
    .command("analysts")
    .description("roles that read the views of analytics");
  analysts
    .command("grant")
    .description("let a role read the views, and only read; it is made where it is missing")
    .argument("<role>", "lower-case letters, digits and _", parseRole)
    .option("--password-file <path>", "file with its password", parsePassword)
    .option("--timeout <seconds>", "how long its statements may take", parseTimeout, 60)
    .option("--json", "for machines")
    .exitOverride()
    .action(grant);
  analysts
    .command("revoke")
    .description("take the views from a role; the role itself stays")
    .argument("<role>", "its name", parseRole)
    .option("--json", "for machines")
    .exitOverride()
    .action(revoke);
}

function parseRole(text: string): string {
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(text) && !/^(pg_|public$|none$)/.test(text)) return text;
  throw new InvalidArgumentError("expected lower-case letters, digits and _, 63 at most, no pg_");
}

/** Other characters than these are prepared by clients in different ways. */
function parsePassword(path: string): string {
  const words = readPassword(path);
  if (/^[\x21-\x7e]{8,200}$/.test(words)) return words;
  throw new InvalidArgumentError("expected 8 to 200 printable ASCII characters in it, no spaces");
}

function readPassword(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    throw new InvalidArgumentError("it cannot be read");
  }
}

function parseTimeout(text: string): number {
  const seconds = Number(text);
  if (/^\d{1,5}$/.test(text) && seconds >= 1 && seconds <= 86_400) return seconds;
  throw new InvalidArgumentError("expected 1 to 86400");
}

async function grant(name: string, { passwordFile, timeout, json }: GrantOptions): Promise<void> {
  await withDatabase("analysts grant", async ({ db, url }) => {
    await db.transaction().execute(bindViewsIfStale);
    if (!(await areViewsBound(db))) {
      process.stderr.write("some tables are missing: start the projector of this version first\n");
      process.exitCode = 1;
      return;
    }
    const password = passwordFile ?? null;
    const granted = await grantRole(db, { name, password, timeoutSeconds: timeout });
    if (isRejection(granted)) {
      const { message, statements } = granted;
      const advice = statements.length === 0 ? [] : ["; an administrator of it runs:"];
      print(
        json,
        granted,
        statements.map((one) => `${one};`),
      );
      process.stderr.write(`${message}${advice.join("")}\n`);
      process.exitCode = 1;
      return;
    }
    print(json, { role: name, ...granted }, [
      `${name} ${granted.wasMade ? "is made and " : ""}reads the views of analytics`,
      ...(granted.alsoSees.length === 0
        ? []
        : [`it may also look into ${granted.alsoSees.join(", ")}, which others let it do`]),
      `psql '${addressFor(name, url)}'`,
    ]);
  });
}

function addressFor(role: string, url: string): string {
  const { host, pathname } = new URL(url);
  return `postgresql://${role}@${host}${pathname}`;
}

async function revoke(name: string, { json }: Json): Promise<void> {
  await withDatabase("analysts revoke", async ({ db }) => {
    const hasChanged = await revokeRole(db, name);
    print(json, { role: name, hasChanged }, [
      `${name} ${hasChanged ? "reads the views no more" : "could not read the views"}`,
    ]);
  });
}
