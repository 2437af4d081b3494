import type { Logger } from "pino";
import { ConfigurationError } from "#ops/config/read-config.ts";
import type { DatabaseAddresses } from "#ops/postgres/database-roles.ts";
import { checkDirect, checkPooled } from "../inspection/find-pooler-problems.ts";

/** Throws where an address leads to a pooler instead of the database, or the pooler's to another database. */
export async function checkAddresses(
  { DATABASE_URL: url, ...others }: DatabaseAddresses,
  poolerUrl: string | null,
  logger: Logger,
): Promise<void> {
  const problems: string[] = [];
  for (const [name, address] of Object.entries({ DATABASE_URL: url, ...others })) {
    if ((await checkDirect(address)) !== null) problems.push(`${name}: ${needsDatabase}`);
  }
  const pooled = await checkPooled({ url, poolerUrl }).catch((error: Error) => {
    logger.warn({ reason: error.message }, "pooler does not answer");
    return null;
  });
  if (pooled?.isFault) problems.push(`${pooled.finding}: ${pooled.advice}`);
  if (problems.length > 0) throw new ConfigurationError(problems);
}

const needsDatabase =
  "expected the address of the database itself, got that of a pooler in front of it. " +
  "Set DATABASE_POOLER_URL to the pooler's address";
