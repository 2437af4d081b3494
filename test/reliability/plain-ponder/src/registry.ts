import { ponder as registry } from "ponder:registry";
import type { Virtual } from "ponder";
import type config from "../ponder.config.ts";
import type * as schema from "../ponder.schema.ts";

/** The types of the virtual modules are those of the application in the root; these are this one's. */
export const ponder = registry as unknown as Virtual.Registry<typeof config, typeof schema>;

export type Context = Virtual.Context<
  typeof config,
  typeof schema,
  Virtual.EventNames<typeof config>
>;
