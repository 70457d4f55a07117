/** What an engine gets of our environment. It is the user's own program, but no key is any of its business. */

/** Names that go. Source: specification of the boundary §7; `HF_TOKEN` comes back where models may be fetched. */
const REMOVED: readonly RegExp[] = [
  /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)(?:_ID)?$/i,
  /^AGENTCLI_/i,
  /^OTEL_/i,
  /^SSLKEYLOGFILE$/i,
];

/** The user's variables without keys, and with what the engine is set up by. */
export function engineEnvironment(
  inherited: Readonly<Record<string, string>>,
  options: { set: Readonly<Record<string, string>>; secret: readonly string[]; download: boolean },
): Record<string, string> {
  const hidden = new Set(options.secret.map((name) => name.toUpperCase()));
  const kept = Object.entries(inherited).filter(([name]) => {
    const upper = name.toUpperCase();
    if (hidden.has(upper)) return false;
    return (options.download && upper === "HF_TOKEN") || !REMOVED.some((form) => form.test(name));
  });
  return { ...Object.fromEntries(kept), ...options.set };
}
