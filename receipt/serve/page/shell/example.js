// This module contains an example receipt. Its keys are only for tests.
import receipt from "../../../../fixtures/valid/task.json";
import trust from "../../../../fixtures/keys/trust.json";

export function exampleFiles() {
  const keys = JSON.parse(trust).keys.filter((key) => key.kid === "key_2026_04");
  return [new File([receipt], "example-receipt.json"), new File([JSON.stringify({ keys })], "example-keys.json")];
}
