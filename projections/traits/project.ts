import { handlesAny } from "../engine/tick.ts";
import type { Projection } from "../engine/projection.ts";
import { sendAhead } from "../log/pipelined.ts";
import { versions } from "../log/versions.ts";
import { listAffectedTokens } from "./affected-tokens.ts";
import { deriveAllTraits } from "./derive-all.ts";
import { deriveAffectedTokens, openSessionTables } from "./derive-tokens.ts";
import { tables } from "./tables.ts";
import { updateTables } from "./update-tables.ts";

type Sources = Record<"metadata" | "ownership" | "listings", Projection>;

/**
 * Traits of tokens, with the number of tokens, listed tokens and the floor price of each trait. Derived from the tables
 * of other projections: rebuilt when their versions change.
 */
export function traitsProjection({ metadata, ownership, listings }: Sources): Projection {
  const reads = [metadata, ownership, listings];
  return {
    name: "traits",
    version: versions.traits.version,
    parameters: reads.map(({ name, version }) => `${name} ${version}`).join(", "),
    reads: reads.map(({ name }) => name),
    tables,
    async apply(session, schema, window) {
      const { kinds } = window;
      await openSessionTables(session);
      if ((await listAffectedTokens(session, schema, window)) === 0) return;
      // Without changes of metadata or owners, tokens keep their traits and only listings can differ.
      const traitsMayChange =
        kinds === undefined || handlesAny(metadata, kinds) || handlesAny(ownership, kinds);
      if ((await deriveAffectedTokens(session, schema, { traitsMayChange })) === 0) return;
      await sendAhead(session, (ahead) => updateTables(ahead, schema, { traitsMayChange }));
    },
    deriveAll: [{ name: "traits", derive: deriveAllTraits }],
  };
}
