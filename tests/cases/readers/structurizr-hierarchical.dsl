workspace "Shop" {
  !identifiers hierarchical
  !const SHOPPER "Shopper"
  model {
    u = person "${SHOPPER}"
    shop = softwareSystem "Shop" {
      web = container "Web Shop" {
        -> api "Calls" "JSON/HTTPS"
      }
      api = container "API" "" "Go" {
        orders = component "Order Handler" {
          -> shop.db "Writes to" "SQL"
        }
        prices = component "Price Handler"
      }
      db = container "Database" "" "PostgreSQL" "Database"
      bus = container "Event Bus" "" "Kafka"
      worker = container "Report Worker"
      api.orders -> api.prices "Asks"
      api -> bus "Publishes order.created to"
      bus -> worker "Delivers order.created to"
    }
    mail = softwareSystem "Mail System" "" "External"
    u -> shop.web "Shops with"
    shop.api -> mail "Sends mail with" "SMTP"
    shop.worker -> mail "Sends reports with" "SMTP" "Deprecated"
    prod = deploymentEnvironment "Production" {
      deploymentNode "edge" {
        lb = infrastructureNode "Load Balancer"
      }
      deploymentNode "host" {
        inst = containerInstance shop.api
      }
      lb -> inst "Forwards to" "HTTPS"
    }
  }
  views {
    dynamic shop {
      shop.db -> shop.api "Returns rows to"
    }
  }
}
