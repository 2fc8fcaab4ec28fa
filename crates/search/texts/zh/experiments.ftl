### Findings and conclusions on searches, comparisons and sweeps. A remedy is an attribute of its message.

## Searches

trial-reason =
    .first = 首次试验
    .recovered = 检查服务器是否已恢复：该负载曾达到目标
    .quarter = 上一负载的四分之一，上一负载未达到目标
    .up-again = 再次使用首个负载：服务器起初可能较慢
    .sequential = 逐个请求的速率的一半
    .four-times = 上一负载的四倍
    .queued = 比上一负载高四分之一：请求在排队
    .twice = 上一负载的两倍
    .confirmation = 确认运行
    .shallow-overload = 略高于实际吞吐量
    .above = 在估计值上方细化
    .below = 在估计值下方细化
    .below-saturation = 略低于实际吞吐量
    .between = 介于达到目标的负载与未达到目标的负载之间
    .check = 最后的检查：服务器在该负载下是否仍达到目标
    .recovery = 恢复
    .overload = 过载试验
    .requested = 用户指定
    .retry = 重试：上一次试验受到干扰

# The capacity at objectives, in the summary of a search.
capacity-summary =
    .interval = { $objectives } 时的容量为 { $value } { $unit }（95 % 置信区间 { $low }–{ $high }）
    .plus-minus = { $objectives } 时的容量为 { $value } ± { $half } { $unit }
    .between = { $objectives } 时的容量在 { $low } 与 { $high } { $unit }之间
    .at-least = { $objectives } 时的容量至少为 { $low } { $unit }
    .below = { $objectives } 时的容量低于 { $high } { $unit }
    .unknown = { $objectives } 时的容量未知
    .measured = 测量了 { $seconds } s
    .knee = 拐点在 { $load }
    .saturation = 在 { $load }/s 处饱和
    .collapse = 负载从 { $load } 起吞吐量下降
    .recovers-at-once = 立即恢复
    .recovers = 在 { $seconds } s 内恢复
    .no-recovery = 在观察时间内没有恢复
    .bottleneck = 受限原因：{ $bottleneck }

# One capacity, with the reason if it is not known better.
one-capacity =
    .interval = { $value } { $unit }（{ $low } 至 { $high }）
    .range = { $low } 至 { $high } { $unit }
    .at-least = 至少 { $low } { $unit }：{ $reason }
    .below = 低于 { $high } { $unit }：{ $reason }
    .unknown = 未知：{ $reason }
load-range = { $low } 至 { $high }
