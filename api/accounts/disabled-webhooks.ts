import { sql } from "kysely";
import { currentTime } from "../keys/clock.ts";
import type { AccountContext } from "./account-context.ts";
import { type DisabledWords, webhookDisabledMail } from "./mail.ts";

/**
 * Mails the owners of webhooks that somebody else disabled, each once, by whichever process comes first: who delivers knows
 * no mail addresses.
 */
export async function tellOfDisabledWebhooks({
  db,
  clock,
  mailer,
  baseUrl,
}: Pick<AccountContext, "db" | "clock" | "mailer" | "baseUrl">): Promise<void> {
  const { rows } = await sql<{
    to: string | null;
    id: number;
    url: string;
    disabledBy: DisabledWords;
  }>`
    update access.webhook w set reported_at = ${currentTime(clock)}
    from access.account a
    where a.id = w.account_id and w.disabled_by <> 'owner' and w.reported_at is null
    returning a.email as "to", w.id, w.url, w.disabled_by as "disabledBy"`.execute(db);
  for (const { to, ...webhook } of rows) mailer.send(webhookDisabledMail({ to, baseUrl }, webhook));
}
