import { z } from "zod";
import type { PartnerConfigs } from "#jobs/partners/open-partners.ts";
import type { PartnerConfig } from "#jobs/partners/partner-definition.ts";
import { partnerDefinitions } from "#jobs/partners/partner-definitions.ts";
import { type PartnerName, partnerNames, partners } from "#projections/domain/partners.ts";
import { setting, urlOf, wholeNumber } from "./setting.ts";

type Prefix = Uppercase<(typeof partners)[PartnerName]["alias"]>;
type PartnerSettings = { [P in Prefix as `${P}_URL`]: ReturnType<typeof urlSetting> } & {
  [P in Prefix as `${P}_KEY`]: ReturnType<typeof keySetting>;
} & { [P in Prefix as `${P}_STREAM_URL`]: ReturnType<typeof streamUrlSetting> } & {
  [P in Prefix as `${P}_RATE_LIMIT`]: ReturnType<typeof rateLimitSetting>;
};
type Text = `${Prefix}_${"URL" | "KEY" | "STREAM_URL"}`;
type Values = { [Name in Text]?: string | undefined } & {
  [P in Prefix as `${P}_RATE_LIMIT`]: number;
};

const prefixOf = (name: PartnerName) => partners[name].alias.toUpperCase() as Prefix;

/** The settings of every partner, `PARTNER_A_URL` and so on. */
export const partnerSettings = Object.fromEntries(
  partnerNames.flatMap((name) => {
    const prefix = prefixOf(name);
    const { displayName } = partners[name];
    const { exampleStreamUrl } = partnerDefinitions[name];
    return [
      [`${prefix}_URL`, urlSetting(name)],
      [`${prefix}_KEY`, keySetting(displayName, `${prefix}_URL`)],
      ...(exampleStreamUrl === undefined
        ? []
        : [[`${prefix}_STREAM_URL`, streamUrlSetting(name, exampleStreamUrl)]]),
      [`${prefix}_RATE_LIMIT`, rateLimitSetting(displayName)],
    ];
  }),
) as PartnerSettings;

/** Pairs of settings of which the second needs the first. */
export const partnerSettingDependencies = partnerNames.flatMap((name) => {
  const prefix = prefixOf(name);
  return [
    [`${prefix}_URL`, `${prefix}_KEY`],
    [`${prefix}_URL`, `${prefix}_STREAM_URL`],
  ] as const;
});

/** Settings by partner; null where its URL is not set. */
export function shapePartners(env: Values): PartnerConfigs {
  return Object.fromEntries(
    partnerNames.map((name) => [name, shapePartner(env, prefixOf(name))]),
  ) as PartnerConfigs;
}

function shapePartner(env: Values, prefix: Prefix): PartnerConfig | null {
  const url = env[`${prefix}_URL`];
  if (url === undefined) return null;
  const streamUrl = env[`${prefix}_STREAM_URL`];
  return {
    url: url.replace(/\/+$/, ""),
    key: env[`${prefix}_KEY`] ?? null,
    requestsPerMinute: env[`${prefix}_RATE_LIMIT`],
    ...(streamUrl === undefined ? {} : { streamUrl }),
  };
}

function urlSetting(name: PartnerName) {
  const { api, exampleUrl } = partnerDefinitions[name];
  return setting(urlOf("http:", "https:").optional(), {
    meaning: `base URL of ${api}, whose listings are synced`,
    expectation: "an http or https URL",
    example: exampleUrl,
    fallback: "absent: off; local chains: a simulated one",
    secret: true,
  });
}

function keySetting(who: string, companion: string) {
  return setting(z.string().min(1).optional(), {
    meaning: `API key of ${who}`,
    expectation: `the key, together with ${companion}`,
    example: "0123456789abcdef",
    fallback: "none",
    secret: true,
  });
}

function streamUrlSetting(name: PartnerName, example: string) {
  const { alias, displayName } = partners[name];
  return setting(urlOf("ws:", "wss:").optional(), {
    meaning: `websocket of the event stream of ${displayName}`,
    expectation: `a ws or wss URL, together with ${alias.toUpperCase()}_URL`,
    example,
    fallback: "absent: new listings are found by polling; local chains: a simulated one",
    secret: true,
  });
}

function rateLimitSetting(who: string) {
  return setting(wholeNumber(6, 1_000_000).default(120), {
    meaning: `maximum requests per minute that each process makes to ${who}, plus half as many for buyers and sellers`,
    expectation: "requests per minute, 6 to 1000000",
    example: "120",
  });
}
