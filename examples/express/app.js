// A shop that stores an order, enqueues its confirmation and reduces the stock in one transaction: all or nothing.
import express from "express";
import { carillon, task } from "carillon";

/** `send` notifies the buyer. */
export function confirmationTask(send) {
  return task({
    name: "order.confirm",
    retry: { maxAttempts: 8 },
    run: ({ order }, ctx) => send(order, ctx.idempotencyKey),
  });
}

/** The engine in this process, with the connection pool of the application. */
export const engineOver = (pool) => carillon({ pool });

export function shop(parts) {
  const app = express();
  app.post("/orders", express.json(), (request, response, next) => {
    placeOrder(parts, request.body.item).then(
      (order) => response.status(201).json({ order }),
      (error) => (error.code === soldOut ? response.status(409).json({ error: "sold out" }) : next(error)),
    );
  });
  return app;
}

/** The SQLSTATE of a failed check constraint. */
const soldOut = "23514";

async function placeOrder({ pool, engine, confirm }, item) {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const { rows } = await client.query("insert into shop_order (item) values ($1) returning id", [item]);
    const order = rows[0].id;
    await engine.enqueue(confirm, { order }, { tx: client });
    // Fails when the item is sold out; the rollback then removes the order and its confirmation.
    await client.query("update shop_stock set pieces = pieces - 1 where item = $1", [item]);
    await client.query("commit");
    return order;
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
}

export const schema = `
  create table if not exists shop_order (id int generated always as identity primary key, item text not null);
  create table if not exists shop_stock (item text primary key, pieces int not null check (pieces >= 0));
  insert into shop_stock (item, pieces) values ('bell', 1) on conflict do nothing`;
