import { askServer } from "#ops/postgres/answering-server.ts";
import type { Finding } from "./find-server-problems.ts";

type Addresses = {
  /** Of the database itself. */
  readonly url: string;
  /** Null: requests go to the database. */
  readonly poolerUrl: string | null;
};

/** A pooler where the database itself is needed, and a pooler that is down or leads elsewhere. */
export async function checkPooler(addresses: Addresses): Promise<Finding[]> {
  try {
    const found = [await checkDirect(addresses.url), await checkPooled(addresses)];
    return found.filter((one) => one !== null);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [fault(`does not answer: ${reason}`, "start it: until then requests are answered 503")];
  }
}

/** Sessions of their own are needed there: for leases, notifications and temporary tables. */
export async function checkDirect(url: string): Promise<Finding | null> {
  const { isPooled } = await askServer(url);
  return isPooled ? misnamed : null;
}

/** Throws when the pooler does not answer. */
export async function checkPooled({ url, poolerUrl }: Addresses): Promise<Finding | null> {
  if (poolerUrl === null) return null;
  const [direct, behind] = [await askServer(url), await askServer(poolerUrl)];
  if (behind.identifier !== direct.identifier || behind.database !== direct.database) {
    return elsewhere;
  }
  if (behind.isStandby && !direct.isStandby) return onStandby;
  return behind.isPooled ? null : absent;
}

const fault = (finding: string, advice: string): Finding => ({
  about: "pooler",
  isFault: true,
  finding,
  advice,
});

const misnamed = fault(
  "DATABASE_URL leads to a pooler",
  "set DATABASE_URL to the database itself, and DATABASE_POOLER_URL to the pooler",
);
const elsewhere = fault(
  "DATABASE_POOLER_URL leads to another database than DATABASE_URL",
  "check both addresses, and the [databases] of the pooler",
);
const onStandby = fault(
  "DATABASE_POOLER_URL leads to a standby, which takes no orders",
  "let it lead to the primary; standbys belong in DATABASE_READ_URLS",
);
const absent: Finding = {
  about: "pooler",
  isFault: false,
  finding: "DATABASE_POOLER_URL leads to the database itself",
  advice: "unset it: without a pooler statements are prepared",
};
