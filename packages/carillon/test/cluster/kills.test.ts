import { join } from "node:path";
import { expect, it } from "vitest";
import { scratchDir } from "../process/scratch.js";
import { type SeededRandom, seededRandom } from "../process/seeded-random.js";
import { storedDataDir } from "../process/stored-data-dir.js";
import { Victim } from "../process/victim.js";

const INIT_ROUNDS = 6;
const MIGRATE_ROUNDS = 6;
const SERVE_KILLS = 26;
const KILLS = 2 * INIT_ROUNDS + 2 * MIGRATE_ROUNDS + SERVE_KILLS;

/** Each round with a new folder: killed while the database is created, then in service. */
async function killInInit(random: SeededRandom): Promise<number> {
  let kills = 0;
  for (let round = 0; round < INIT_ROUNDS; round++) {
    const victim = new Victim(join(await scratchDir(), "data"), random);
    await victim.killAfter(/making a new PostgreSQL/, 800);
    await victim.restart();
    await victim.killInService();
    await victim.restart();
    await victim.finish();
    kills += victim.kills;
  }
  return kills;
}

/** Each round with a new schema in one database: killed during the migration, then in service. */
async function killInMigrate(random: SeededRandom): Promise<number> {
  const dataDir = await storedDataDir();
  let kills = 0;
  for (let round = 0; round < MIGRATE_ROUNDS; round++) {
    const victim = new Victim(dataDir, random, ["--database-schema", `round_${round}`]);
    await victim.killAfter(/"service":"database","msg":"service started"/, 60);
    await victim.restart();
    await victim.killInService();
    await victim.restart();
    await victim.finish();
    kills += victim.kills;
  }
  return kills;
}

async function killInServiceOnly(random: SeededRandom): Promise<number> {
  const victim = new Victim(await storedDataDir(), random);
  await victim.restart();
  while (victim.kills < SERVE_KILLS) {
    await victim.killInService();
    await victim.restart();
  }
  await victim.finish();
  return victim.kills;
}

it(`survives ${KILLS} kills at random moments of init, migrate and service: each restart is ready, nothing acknowledged is lost`, async () => {
  const random = seededRandom();
  console.log(`CARILLON_TEST_SEED=${random.seed} repeats this`);
  const kills = await Promise.all([killInInit(random), killInMigrate(random), killInServiceOnly(random)]);
  expect(kills.reduce((sum, count) => sum + count)).toBe(KILLS);
}, 300_000);
