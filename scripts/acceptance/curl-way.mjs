// Everything by curl.
import { runProgram } from "../pack/run-program.mjs";

export function curlWay(url) {
  const send = async (method, path, body) => {
    const sent = body === undefined ? [] : ["-H", "content-type: application/json", "-d", JSON.stringify(body)];
    const args = ["-sS", "-X", method, `${url}/v1${path}`, "-w", "\n%{http_code}", ...sent];
    const { code, stdout, stderr } = await runProgram("curl", args);
    if (code !== 0) throw new Error(`curl ${method} ${path}: ${stderr}`);
    const end = stdout.lastIndexOf("\n");
    return { status: Number(stdout.slice(end + 1)), answer: JSON.parse(stdout.slice(0, end)) };
  };
  const call = async (method, path, body) => {
    const { status, answer } = await send(method, path, body);
    if (status >= 300) throw new Error(`curl ${method} ${path}: ${status} ${answer.detail}`);
    return answer;
  };
  const get = (path) => call("GET", path);
  const post = (path, body) => call("POST", path, body);
  return {
    name: "curl",
    create: (job) => post("/jobs", job),
    job: (job) => get(`/jobs/${job}`),
    runsOf: async (id, status) => (await get(`/runs?job_id=${id}&status=${status}`)).runs,
    run: (id) => get(`/runs/${id}`),
    explain: (id) => get(`/runs/${id}/explain`),
    pause: (job, reason) => post(`/jobs/${job}:pause`, { reason }),
    resume: (job) => post(`/jobs/${job}:resume`, { missed: "none" }),
    runNow: (job) => post(`/jobs/${job}:runNow?wait=60s`),
    backfill: (job, from, to) => post(`/jobs/${job}:backfill`, { from, to }),
    backfillState: (id) => get(`/backfills/${id}`),
    cancel: (job) => post(`/jobs/${job}:cancel`),
    deadLetters: async (job) => (await get(`/dead-letters?job_id=${job}`)).dead_letters,
    retry: (id) => post(`/runs/${id}:retry`),
    jobsWith: async (selector) => (await get(`/jobs?label_selector=${encodeURIComponent(selector)}`)).jobs,
    runsWith: async (selector) => (await get(`/runs?label_selector=${encodeURIComponent(selector)}`)).runs,
    async followLogs(id, onLine) {
      for (let token = ""; token !== null;) {
        const page = await get(`/runs/${id}/logs?follow=true${token && `&page_token=${encodeURIComponent(token)}`}`);
        page.lines.forEach(onLine);
        token = page.next_page_token;
      }
    },
    async refused(body) {
      const { answer } = await send("POST", "/jobs", body);
      return { code: answer.code, pointers: answer.errors.map(({ pointer }) => pointer) };
    },
  };
}
