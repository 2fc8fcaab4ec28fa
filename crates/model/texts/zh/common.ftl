### 多个 crate 使用的消息。

## Parts of sentences

series = { $clauses }
words = { $words }
users = { $count } 个用户

## Causes of the verdict

of-run = { $run }：{ $sentence }

## Conclusion of a run

limiting-resource =
    .worker = 一个工作线程的 CPU 使用率达到 100 %
    .cores = 与服务器共用的核
    .run-queue = 在运行队列中等待核
    .throttled = CPU 限流
    .steal = 被虚拟机监控程序窃取的 CPU 时间
    .other-processes = 本机的其他进程
    .stopped = 一个没有运行的工作线程
    .descriptors = 文件描述符
    .ports = 本地端口
    .nic = 网卡
    .packets = 每秒数据包数
    .conntrack = 连接跟踪表
    .memory = 内存
    .lag = 滞后
    .agent = 失联的压测代理

## Parts of sentences

sentence = { $clause }。
of-contender = { $contender }：{ $sentence }
number-of-users = { $number } 个用户
times-failure = { $count } × { $failure }
load-unit =
    .rate = 个请求/s
    .users = 个用户

measure =
    .mean = 平均值
    .max = 最大值
    .errors = 错误
    .throughput = 吞吐量
    .goodput = 有效吞吐量
    .server-cpu = 每个请求的服务器 CPU 时间
    .capacity = 容量

# What happened in trials with a verdict.
state =
    .unjudged = 没有收到成功的响应
    .busy-machine = 其他进程占用了本机的 CPU
    .unexplained = 请求发送延迟，原因不明
    .limited = 负载生成器是瓶颈
    .invalid = 一致性检查失败

## Searches

search-end =
    .precise = 已达到目标精度
    .budget = 时间预算已用完
    .generator = 更高负载下的试验受到干扰
    .most = 允许的最高负载达到了目标
    .least = 有意义的最低负载未达到目标
    .damaged = 服务器没有从过载中恢复
    .stopped = 搜索被停止
    .limited = 更高负载下的试验受到干扰：{ $limit }
    .stalls = 缓慢或失败的请求出现得太少，无法统计；在任何负载下都可能超出目标

server-changed = 服务器在搜索期间发生了变化：先在 { $met } { $unit } 时达到目标，后来在 { $missed } { $unit } 时未达到，因此其容量未知
    .remedy = 在试验之间留出间隔（--cooldown），或重启服务器（计划文件：find.between）

## Comparisons

not-alternating = 这些运行不是交替进行的：其间的其他变化未知，任何检验都无法将其与对比对象的差异分开。
    .about = 已存储运行的比较
    .restarts = 无法得知服务器在各次运行之间是否重启过，是否保留了缓存和连接。
    .gap = 各次运行最多相隔 { $gap }：机器及其负载可能已经变化。
    .loads = 没有共同的负载，因此比较的是不同的负载：{ $loads }

history-measure =
    .capacity = 容量
    .throughput = 吞吐量
    .p50 = 响应时间 p50
    .p95 = 响应时间 p95
    .p99 = 响应时间 p99
    .service-p50 = 服务时间 p50
    .service-p99 = 服务时间 p99
    .errors = 错误率

# Remarks on a run.
history-remark =
    .change = 变化：{ $size }
    .invalid = 未计入：一致性检查失败
    .no-end = 未计入：运行没有结束记录
    .no-figure = 未计入：运行没有此数据
    .unknown-plan = 未计入：其计划未知
    .interrupted = 已中断
    .from-index = 取自索引：没有日志和摘要

# A change of the level.
history-change = { $day }，{ $before_id } 与 { $after_id } 之间：{ $before } → { $after }{ $size }；p = { $p }
    .better = { $day }，{ $before_id } 与 { $after_id } 之间：{ $before } → { $after }{ $size }；p = { $p }，变好
    .worse = { $day }，{ $before_id } 与 { $after_id } 之间：{ $before } → { $after }{ $size }；p = { $p }，变差
    .size = ，{ $relative }
    .size-with-interval = ，{ $relative }（95 % 置信区间 { $low } 至 { $high }）
    .facts = 同时发生的变化：
    .no-facts = 在其前后两次运行之内，数据、环境、服务器和版本的已知信息没有变化。
    .fact = { $fact }：{ $before } → { $after }
    .fact-between = { $fact }：{ $before } → { $after }（{ $before_id } 与 { $after_id } 之间）

## Charts

chart-label =
    .completed = 完成
    .good = 成功的响应
    .planned = 计划
    .offered = 施加负载
    .p50 = p50
    .p99 = p99
    .max = 最大值
    .mean = 平均值
    .median = 中位数（{ $band }）
    .one-value = 单个值
    .range = 范围
    .interval = 95 % 置信区间
    .with-band = { $label }，阴影：{ $bands }
    .with-range = { $label }，阴影：最低至最高
    .response-time = 响应时间
    .share-of-requests = 请求占比
    .other-statuses = 其他
    .replies = 响应
    .passed-checks = 通过全部检查
    .share-of-replies = 占响应的比例
    .repetition = 重复
    .users = 虚拟用户
    .of-contender = { $contender } { $series }
    .knee = 拐点
    .saturation = 饱和点
    .whole-run = 整次运行
    .whole-run-with-interval = 整次运行（95 % 置信区间）
    .objective = 目标 { $objective }
    .at-load = 负载 { $load }
    .percentile = 百分位
    .requests = 请求
    .requests-connections = 请求、连接
    .errors = 错误
    .in-flight = 进行中
    .connections = 连接
    .waiting = 等待中
    .time = 测量时间
    .merged-time = 测量时间，每 { $width } 一点
    .lost = { $agent } 失联
    .no-replies = 无响应

## Verdict and steady state

verdict = 判定
    .state-ok = OK
    .state-unjudged = 无法判定
    .state-busy-machine = 机器繁忙
    .state-unexplained = 原因不明
    .state-limited = 生成器受限
    .state-invalid = 无效
    .ok = 负载生成器不是瓶颈
    .unjudged = 无法评价服务器或负载生成器
    .load-missing = { $cause }；请舍弃本次运行
    .check-failed = 一致性检查失败；请舍弃本次运行
    .check-failed-and-cause = 一致性检查失败；请舍弃本次运行。此外：{ $cause }
    .checks-passed = { $count } 项一致性检查通过
    .unseen = 此处无法观察：{ $unseen }
