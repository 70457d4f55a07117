import assert from "node:assert/strict";
import { hideArguments } from "./post.ts";

for (
  const line of [
    "mysql -u root -ps3cretpw shop",
    "mysqldump -p's3cretpw; x' shop > dump.sql",
    "curl -u bob:s3cretpw https://h.example",
    "curl -sSu bob:s3cretpw https://h.example",
    "curl -ubob:s3cretpw https://h.example",
    "curl --user=bob:s3cretpw --proxy-user 'bob:s3cretpw' https://h.example",
    "cd x && sshpass -p s3cretpw ssh h",
    "sshpass -ps3cretpw ssh h",
    "docker login -u bob -p s3cretpw registry.example",
    'podman login -p="s3cretpw" registry.example',
    "redis-cli -a s3cretpw ping",
  ]
) {
  Deno.test(`the password is hidden in: ${line}`, () => {
    const hidden = hideArguments(line);
    assert.doesNotMatch(hidden, /s3cretpw/);
    assert.match(hidden, /\(hidden\)/);
    assert.equal(hidden.split(" ")[0], line.split(" ")[0]);
  });
}

for (
  const line of ["mkdir -p a/b", "sort -u x", "mysql -p shop", "git push -u origin main", "curl https://h.example"]
) {
  Deno.test(`nothing is hidden in: ${line}`, () => assert.equal(hideArguments(line), line));
}
