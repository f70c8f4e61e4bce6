import { expect, it } from "vitest";
import type { KnownTask } from "@carillon/store";
import { TaskCache } from "../../../src/catalog/tasks.js";

const taskOf = (revision: number, name = `t${revision}`): KnownTask => {
  return { namespace: "default", namespaceId: 1, name, defaults: { priority: revision % 10 }, revision };
};

it("the task cache finds defaults whose registration committed late, although hundreds of tasks changed since", async () => {
  const visible = Array.from({ length: 300 }, (_, index) => taskOf(index + 2));
  const newer = async (revision: number) => visible.filter((task) => task.revision > revision);
  const book = new TaskCache({ newer, register: async () => [] });
  await book.refresh();
  visible.push(taskOf(1));
  expect(book.defaultsOf("default", "t1")).toBeNull();
  for (let look = 0; look < 60; look++) await book.refresh();
  expect(book.defaultsOf("default", "t1")).toEqual({ priority: 1 });
  expect(book.defaultsOf("other", "t1")).toBeNull();
});

it("the task cache ignores an older row that is read later", async () => {
  const answers = [[taskOf(5, "a")], [taskOf(3, "a")]];
  const book = new TaskCache({ newer: async () => answers.shift() ?? [], register: async () => [taskOf(4, "a")] });
  await book.refresh();
  await book.refresh();
  await book.register([1], { a: { priority: 4 } });
  expect(book.defaultsOf("default", "a")).toEqual({ priority: 5 });
});
