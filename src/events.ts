import { ponder } from "ponder:registry";
import { event as events } from "ponder:schema";
import { hasTopicsOf } from "../abis/event-topics.ts";
import { type EmittedEvent, emittedRow } from "./emitted-row.ts";
import { settings } from "./settings.ts";

type Insert = (table: typeof events) => {
  values: (row: ReturnType<typeof emittedRow>) => Promise<unknown>;
};
type Handler = (input: {
  event: EmittedEvent;
  context: { chain: { id: number }; db: { insert: Insert } };
}) => Promise<void>;

/** The names of sources and events are known at run time only, which Ponder's types do not foresee. */
const registry = ponder as unknown as { on: (name: string, handler: Handler) => void };

for (const source of settings.sources) {
  for (const shape of source.events) {
    const { name } = shape;
    registry.on(`${source.name}:${name}`, async ({ event, context }) => {
      // Ponder decodes a log with more topics too, or longer data.
      if (!hasTopicsOf(shape, event.log.topics)) return;
      await context.db.insert(events).values(emittedRow(event, context.chain.id, source, name));
    });
  }
}
