/** The alternative to a timing wheel: a binary heap ordered by due time and insertion. A cancelled timer stays in it until it is due. */
export class BinaryHeap {
  #timers = [];
  #sequence = 0;

  insert(due, item) {
    const timer = { due, sequence: this.#sequence++, item, cancelled: false };
    const timers = this.#timers;
    let at = timers.length;
    timers.push(timer);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(timer, timers[parent])) break;
      timers[at] = timers[parent];
      at = parent;
    }
    timers[at] = timer;
    return timer;
  }

  cancel(timer) {
    const was = !timer.cancelled;
    timer.cancelled = true;
    return was;
  }

  advance(now) {
    const due = [];
    while (this.#timers.length > 0 && this.#timers[0].due <= now) {
      const timer = this.#removeFirst();
      if (!timer.cancelled) due.push(timer.item);
    }
    return due;
  }

  #removeFirst() {
    const timers = this.#timers;
    const first = timers[0];
    const last = timers.pop();
    if (timers.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= timers.length) break;
      if (child + 1 < timers.length && before(timers[child + 1], timers[child])) child++;
      if (!before(timers[child], last)) break;
      timers[at] = timers[child];
      at = child;
    }
    timers[at] = last;
    return first;
  }
}

function before(a, b) {
  return a.due < b.due || (a.due === b.due && a.sequence < b.sequence);
}
