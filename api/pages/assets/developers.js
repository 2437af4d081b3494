import { offerCopies } from "./copy.js";
import { offerPasskeys } from "./passkey.js";
import { offerWallets } from "./wallet-sign-in.js";

/** Optional behaviour of the pages: copy buttons, no double submit, reload without sending the form again. */
offerCopies();
for (const form of document.querySelectorAll("form")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
    // The page stays when a file answers: no other one will release the form.
    if ("downloads" in form.dataset)
      setTimeout(() => {
        delete form.dataset.sent;
      }, 2000);
  });
}
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form")) delete form.dataset.sent;
});
if (document.body.dataset.home) history.replaceState(null, "", document.body.dataset.home);
offerWallets();
offerPasskeys();
