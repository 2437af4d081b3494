import { createHash, type Hash } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import type { Session } from "../../database.ts";
import { lineOfFact } from "./archived-columns.ts";

/** Positions of a part. */
const PART = 10_000n;

/** How many facts there are, and their digest. */
export type FactsDigest = { readonly facts: bigint; readonly digest: string };

/**
 * The digest of facts in the order of positions: of each 10,000 positions that of their lines, and of these digests one.
 * So PostgreSQL can make it a part at a time, and a reader of a file as the lines come.
 */
export class LinesDigest {
  private readonly whole = createHash("sha256");
  private part: { number: bigint; hash: Hash } | undefined;
  private facts = 0n;

  add(position: bigint, line: string): void {
    const number = position / PART;
    if (this.part?.number === number) this.part.hash.update("\n");
    else {
      this.endPart();
      this.part = { number, hash: createHash("sha256") };
    }
    this.part.hash.update(line);
    this.facts += 1n;
  }

  end(): FactsDigest {
    this.endPart();
    return { facts: this.facts, digest: this.whole.digest("hex") };
  }

  private endPart(): void {
    if (this.part !== undefined) this.whole.update(this.part.hash.digest("hex"));
    this.part = undefined;
  }
}

/** The same by PostgreSQL, of the rows of `table` with positions from `first` to `last`. */
export async function digestFacts(
  session: Session,
  table: RawBuilder<unknown>,
  { first, last }: { first: bigint; last: bigint },
): Promise<FactsDigest> {
  const whole = createHash("sha256");
  let facts = 0n;
  for (let from = first - (first % PART); from <= last; from += PART) {
    const least = from < first ? first : from;
    const most = from + PART - 1n < last ? from + PART - 1n : last;
    const { rows } = await sql<{ facts: bigint; digest: string | null }>`
      select count(*) as facts,
             encode(sha256(convert_to(string_agg(${lineOfFact}, E'\\n' order by f.position), 'UTF8')), 'hex') as digest
      from ${table} f where f.position >= ${least} and f.position <= ${most}`.execute(session);
    const [part] = rows;
    if (part === undefined || part.digest === null) continue;
    facts += part.facts;
    whole.update(part.digest);
  }
  return { facts, digest: whole.digest("hex") };
}
